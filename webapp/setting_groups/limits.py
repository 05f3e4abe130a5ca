"""The settings that bound what others may send."""

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings

from webapp.config_readers import Rate, whole_number


class LimitSettings(BaseSettings):
    """Rates and sizes; a rate is written as `10/minute;100/day`."""

    limit_create_draft: Rate = Field(
        "30/minute;500/day",
        description="New drafts, per account, by REST and MCP together like all writes; "
        "refused and repeated writes are not counted",
    )
    limit_update_draft: Rate = Field("60/minute", description="Changes of drafts, per account")
    limit_publish: Rate = Field("10/minute;100/day", description="Publishes, per account")
    limit_agent_tokens: Rate = Field(
        "20/hour", description="New agent tokens, by agents and in the browser, per account"
    )
    limit_writes: Rate = Field("60/minute", description="All of these together, per access token")
    limit_page_writes: Rate = Field(
        "120/minute", description="Changes that a creator makes by pages, per account"
    )
    limit_page_forms: Rate = Field(
        "20/minute;200/day",
        description="New drafts by a creator's pages, and publications by them, each per account",
    )
    limit_subscribe: Rate = Field(
        "60/minute",
        description="Calls that subscribe to events or renew a subscription, per account",
    )
    limit_answer_session: Rate = Field("60/minute", description="Posts of one respondent")
    limit_answer_address: Rate = Field(
        "3000/minute", description="Posts of respondents behind one network address"
    )
    limit_upload_session: Rate = Field(
        "10/minute", description="Recordings that one respondent uploads"
    )
    limit_transcript_session: Rate = Field(
        "120/minute",
        description="Looks of one respondent for the words of a recording; a page looks each "
        "second at first",
    )
    limit_next_session: Rate = Field(
        "60/minute",
        description="How often one respondent's page asks whether a follow-up question comes next",
    )
    limit_try_model: Rate = Field(
        "30/minute;500/day",
        description="Calls of the model while creators try their drafts, per account; after them "
        "the rules decide there",
    )
    limit_form_bytes: Annotated[int, whole_number(1024**2, 1024**5)] = Field(
        1024**3,
        description="Bytes of answers that one form keeps, corrected ones included, each with "
        "the text of its question and its recording; withdrawing gives them back. Unclaimed "
        "recordings take a quarter at most. From 80 % on its creator is told, and people are told "
        "to type, also if `WRITE_LIMITS` is off",
    )
    limit_sign_in_account: Rate = Field(
        "5/minute;20/hour",
        description="Failed sign-ins, per account and network address; per browser for one that "
        "has signed in before",
    )
    limit_sign_in_account_total: Rate = Field(
        "100/hour;500/day",
        description="Failed sign-ins to one account from all addresses, except from browsers "
        "that have signed in before",
    )
    limit_sign_in_address: Rate = Field(
        "30/minute",
        description="Failed sign-ins, per network address, except from browsers that have "
        "signed in before",
    )
    limit_token: Rate = Field(
        "600/minute", description="Token requests, per client and network address"
    )
    limit_token_failures: Rate = Field(
        "10/minute",
        description="Failed token requests with one code or refresh token, per client and "
        "network address",
    )
    limit_registration: Rate = Field(
        "1000/hour;3000/day",
        description="New registrations of agents, per network address: a bound on floods; the "
        "same agent without a secret again, and refused ones, are not counted",
    )
    max_streams: Annotated[int, whole_number(1, 100_000)] = Field(
        1000,
        description="Streams of answers that one process keeps open at a time",
    )
