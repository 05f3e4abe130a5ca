"""Every bound with its unit and its source."""

TITLE_MAX_CHARS = 120  # contract; Unicode code points
GOAL_MAX_CHARS = 2000  # contract
CONTEXT_MAX_CHARS = 4000  # contract
QUESTIONS_MAX = 20  # contract
FOLLOW_UPS_MAX = 50  # contract
TOTAL_QUESTIONS_MAX = 50  # contract

QUESTION_ID_MAX_CHARS = 200  # our choice: room for any id scheme of an agent
ANSWER_MAX_CHARS = 20_000  # our choice: longer typed answers stay in the box with a message
TRANSFER_LINK_SECONDS = 3600  # our choice: to find the other device and open the link there
ANSWER_MIN_SECONDS = 2  # our choice: people do not read, type and continue faster
FORM_BYTES_MAX = 1024**3  # our choice: the answers of one form; a setting changes it
FORM_TOLD_PERCENT = 80  # our choice: the share of it from which its creator is warned
RESPONDER_NAME_MAX_CHARS = 80  # our choice
PAGE_MAX_ITEMS = 200  # our choice: answers and completions in one result page
PAGE_MAX_BYTES = 512 * 1024  # our choice: keeps a page inside an agent's context
ABANDONED_AFTER_SECONDS = 24 * 3600  # our choice
DISCARDED_KEPT_SECONDS = 24 * 3600  # our choice: how long a discard can be undone
TRASH_KEPT_SECONDS = 30 * 24 * 3600  # our choice: deleted forms can be restored for that long
FRAME_ORIGINS_MAX = 10  # our choice: the header stays short
INVITE_LIFETIME_SECONDS = 24 * 3600  # our choice
FORM_BODY_MAX_BYTES = 1024 * 1024  # our choice: three times the longest answer, percent-encoded
FORM_FIELDS_MAX = 1000  # our choice, as Werkzeug's for multipart bodies
API_BODY_MAX_BYTES = 256 * 1024  # our choice: bounds all questions of a draft together
WAIT_MAX_SECONDS = 25  # our choice: below the idle timeouts of proxies
IDEMPOTENCY_KEY_MAX_CHARS = 255  # as Stripe
IDEMPOTENCY_KEPT_SECONDS = 24 * 3600  # as Stripe
PASSWORD_MIN_CHARS = 12  # our choice, no composition rules
PASSWORD_MAX_CHARS = 1024  # our choice: beyond it nothing is read
LAST_USED_EVERY_SECONDS = 60  # our choice: one write a minute and connection
CLIENT_ID_MAX_CHARS = 2048  # our choice: a client id may be an address
REDIRECT_URI_MAX_CHARS = 2000  # our choice
REDIRECT_URIS_MAX = 20  # our choice
CLIENT_NAME_MAX_CHARS = 80  # our choice
EMAIL_MAX_CHARS = 254  # RFC 5321 section 4.5.3.1.3, as clarified by erratum 1690
ACCOUNT_NAME_MAX_CHARS = 80  # our choice
