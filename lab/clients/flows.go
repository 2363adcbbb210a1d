// Both flows with the client that openapi-generator makes for Go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	client "accounts.test/generated/client"
)

func must[Answer any](answer Answer, _ any, err error) Answer {
	if err != nil {
		log.Fatal(err)
	}
	return answer
}

func codeOf(err error) string {
	var refusal *client.GenericOpenAPIError
	var body client.Error
	if !errors.As(err, &refusal) || json.Unmarshal(refusal.Body(), &body) != nil {
		log.Fatal(err)
	}
	return body.Error.Code
}

func main() {
	settings := client.NewConfiguration()
	settings.Servers = client.ServerConfigurations{{URL: os.Getenv("BASE")}}
	api, user := client.NewAPIClient(settings), os.Getenv("USER_ID")
	as := func(token string) context.Context {
		return context.WithValue(context.Background(), client.ContextAccessToken, token)
	}
	ctx := as(os.Getenv("TOKEN"))

	wanted := client.NewChangeEmailRequest(os.Getenv("NEW_EMAIL"))
	wanted.SetCurrentPassword(os.Getenv("PASSWORD"))
	change := must(api.EmailAPI.ChangeEmail(ctx, user).XRequiredScope("email:manage").ChangeEmailRequest(*wanted).Execute())
	for codes := bufio.NewScanner(os.Stdin); codes.Scan(); {
		proof := client.NewVerifyEmailRequest(change.Data.ChangeRequestId, codes.Text())
		verified, _, err := api.EmailAPI.VerifyEmail(ctx, user).XRequiredScope("email:manage").VerifyEmailRequest(*proof).Execute()
		if err != nil {
			fmt.Println("refused", codeOf(err))
		} else {
			fmt.Println("verified", verified.Data.NewEmail)
		}
	}

	wish := client.NewWithdrawAccountRequest("DELETE_MY_ACCOUNT")
	wish.SetReason("other")
	wish.SetFeedback("because")
	started := must(api.AccountAPI.WithdrawAccount(ctx, user).XRequiredScope("account:manage").WithdrawAccountRequest(*wish).Execute()).Data
	read := api.AccountAPI.GetWithdrawalStatus(as(started.StatusToken), user, started.WithdrawalId).XRequiredScope("account:manage")
	status := must(read.Execute()).Data
	fmt.Println("withdrawn", len(status.DeletionSteps), "steps")
}
