import java.util.Scanner;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AccountApi;
import org.openapitools.client.api.EmailApi;
import org.openapitools.client.model.ChangeEmailRequest;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.GetWithdrawalStatus200ResponseData;
import org.openapitools.client.model.VerifyEmailRequest;
import org.openapitools.client.model.WithdrawAccount202ResponseData;
import org.openapitools.client.model.WithdrawAccountRequest;

/** Both flows with the client that openapi-generator makes for Java. */
public class Flows {
  static final String USER = System.getenv("USER_ID");

  static ApiClient client(String token) {
    ApiClient client = new ApiClient().setBasePath(System.getenv("BASE"));
    client.setBearerToken(token);
    return client;
  }

  public static void main(String[] args) throws Exception {
    EmailApi email = new EmailApi(client(System.getenv("TOKEN")));
    ChangeEmailRequest wanted =
        new ChangeEmailRequest().newEmail(System.getenv("NEW_EMAIL")).currentPassword(System.getenv("PASSWORD"));
    String request = email.changeEmail(USER, "email:manage", wanted, null).getData().getChangeRequestId();
    Scanner codes = new Scanner(System.in);
    while (codes.hasNextLine()) {
      VerifyEmailRequest proof = new VerifyEmailRequest().changeRequestId(request).verificationCode(codes.nextLine());
      try {
        System.out.println("verified " + email.verifyEmail(USER, "email:manage", proof, null).getData().getNewEmail());
      } catch (ApiException refusal) {
        System.out.println("refused " + Error.fromJson(refusal.getResponseBody()).getError().getCode());
      }
    }

    AccountApi account = new AccountApi(client(System.getenv("TOKEN")));
    WithdrawAccountRequest wish =
        new WithdrawAccountRequest()
            .confirmation(WithdrawAccountRequest.ConfirmationEnum.DELETE_MY_ACCOUNT)
            .reason(WithdrawAccountRequest.ReasonEnum.OTHER)
            .feedback("because");
    WithdrawAccount202ResponseData started = account.withdrawAccount(USER, "account:manage", wish, null).getData();
    AccountApi follower = new AccountApi(client(started.getStatusToken()));
    GetWithdrawalStatus200ResponseData status =
        follower.getWithdrawalStatus(USER, started.getWithdrawalId(), "account:manage").getData();
    System.out.println("withdrawn " + status.getDeletionSteps().size() + " steps");
  }
}
