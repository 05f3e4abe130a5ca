"""The operations of subscriptions to events, for the OpenAPI document."""

from http import HTTPMethod, HTTPStatus
from typing import Any

from api.openapi.operations import OF_FORM, UNREADABLE, Operation
from api.openapi.parameters import SUBSCRIPTION_ID
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.vocabulary import Scope

TAG = "Events"
PATH = "/forms/{formId}/subscriptions"
SUBSCRIBE: dict[str, Any] = {
    "url": "https://hooks.example.com/askback?flow=7",
    "secret": "whsec_QW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0IQ==",
    "ttlSeconds": 86_400,
}
GRANTED = {
    "subscriptionId": SUBSCRIPTION_ID,
    "refreshBefore": "2026-11-22T10:12:00.250Z",
    "cursor": "AQ-example-of-a-position-that-is-opaque",
    "truncated": False,
}
LISTED = {
    "subscriptions": [
        {
            "subscriptionId": SUBSCRIPTION_ID,
            "host": "hooks.example.com:443",
            "active": True,
            "lastDeliveryAt": None,
            "lastError": None,
            "refreshBefore": GRANTED["refreshBefore"],
        }
    ]
}
EXAMPLES: dict[str, Any] = {"createSubscription": GRANTED, "listSubscriptions": LISTED}
EVENTS = (
    Operation(
        id="createSubscription",
        tag=TAG,
        method=HTTPMethod.POST,
        path=PATH,
        scope=Scope.RESPONSES_READ,
        summary="Subscribe to the completed responses of a form, or renew",
        description=(
            "From here on, each completed response is posted to the address, signed with the "
            "secret, as `/docs/events` describes, and sent again until it is taken. The address is "
            "asked first to send back a challenge, at most once a day. One that answers 200 to 299 "
            "instead, as hooks of automation tools, waits for its creator, who confirms it once on "
            "the page *Agents*; from then on the same request succeeds without a challenge. The "
            "same form and address again renew the subscription."
        ),
        parameters=("formId",),
        takes="SubscriptionInput",
        sent=SUBSCRIBE,
        answers="Subscription",
        links={
            "deleteSubscription": {
                "formId": "$request.path.formId",
                "subscriptionId": "$response.body#/subscriptionId",
            }
        },
        codes=OF_FORM
        | {
            HTTPStatus.BAD_REQUEST: (*UNREADABLE, ErrorCode.CALLBACK_FAILED),
            HTTPStatus.CONFLICT: (ErrorCode.TOO_MANY_SUBSCRIPTIONS,),
            HTTPStatus.TOO_MANY_REQUESTS: (ErrorCode.RATE_LIMITED,),
        },
    ),
    Operation(
        id="listSubscriptions",
        tag=TAG,
        method=HTTPMethod.GET,
        path=PATH,
        scope=Scope.RESPONSES_READ,
        summary="List the live subscriptions of a form",
        description="Those of all connections of the account, oldest first.",
        parameters=("formId",),
        answers="SubscriptionList",
        links={
            "deleteSubscription": {
                "formId": "$request.path.formId",
                "subscriptionId": "$response.body#/subscriptions/0/subscriptionId",
            }
        },
        codes=OF_FORM,
    ),
    Operation(
        id="deleteSubscription",
        tag=TAG,
        method=HTTPMethod.DELETE,
        path=f"{PATH}/{{subscriptionId}}",
        scope=Scope.RESPONSES_READ,
        summary="Unsubscribe",
        description="Nothing more is sent. It succeeds again, and for an id that nobody has.",
        parameters=("formId", "subscriptionId"),
        status=HTTPStatus.NO_CONTENT,
        answers=None,
        codes=OF_FORM,
    ),
)
