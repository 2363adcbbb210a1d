/** A delivery status notification as small as one can be. `messageId` quotes the message that came back. */
export const bounceOf = (
  messageId: string,
  to: string,
) => `Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

Final-Recipient: rfc822;${to}
Action: failed
Status: 5.1.1

--b
Content-Type: text/rfc822-headers

Message-ID: <${messageId}>
--b--
`
