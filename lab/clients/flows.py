# Both flows with the client that openapi-generator makes for Python.
import json, os, sys
from openapi_client import AccountApi, ApiClient, ApiException, Configuration, EmailApi
from openapi_client import ChangeEmailRequest, VerifyEmailRequest, WithdrawAccountRequest

user = os.environ["USER_ID"]

def client(token):
    return ApiClient(Configuration(host=os.environ["BASE"], access_token=token))

email = EmailApi(client(os.environ["TOKEN"]))
wanted = ChangeEmailRequest(new_email=os.environ["NEW_EMAIL"], current_password=os.environ["PASSWORD"])
request = email.change_email(user, "email:manage", wanted).data.change_request_id
for code in sys.stdin:
    try:
        proof = VerifyEmailRequest(change_request_id=request, verification_code=code.strip())
        print("verified", email.verify_email(user, "email:manage", proof).data.new_email)
    except ApiException as refusal:
        print("refused", json.loads(refusal.body)["error"]["code"])
    sys.stdout.flush()

account = AccountApi(client(os.environ["TOKEN"]))
wish = WithdrawAccountRequest(confirmation="DELETE_MY_ACCOUNT", reason="other", feedback="because")
started = account.withdraw_account(user, "account:manage", wish).data
follower = AccountApi(client(started.status_token))
status = follower.get_withdrawal_status(user, started.withdrawal_id, "account:manage").data
print("withdrawn", len(status.deletion_steps), "steps")
