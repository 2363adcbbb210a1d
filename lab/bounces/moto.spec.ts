import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { expect, type TestContext, test } from 'vitest'
import type { MailEvent } from '@/domain/ports'
import { createMailEvents } from '@/server/adapters/mail-events/sources'
import { freePort, listening } from '@/testing/listening'
import { until } from '@/testing/until'

const REGION = 'eu-central-1'
const ID = '0123456789abcdef0123456789abcdef01234567'

interface Call {
  Message: string | Record<string, unknown>
  SigningCertURL: string
  [name: string]: unknown
}

/** The header by which moto finds the service and the region. */
const headersFor = (service: 'ses' | 'sns') => ({
  Authorization: `AWS4-HMAC-SHA256 Credential=x/20261123/${REGION}/${service}/aws4_request, SignedHeaders=host, Signature=x`,
})

/** Starts moto in place of Amazon SES and SNS. `calls` holds the calls of its topic. */
async function startMoto(context: TestContext) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const server = spawn(process.env.MOTO_SERVER ?? '', ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  context.onTestFinished(() => void server.kill())
  await until('moto answers', async () => (await fetch(`${url}/moto-api/`)).ok)
  const calls: Call[] = []
  const receiver = createServer(async (request, response) => {
    calls.push(JSON.parse(String(Buffer.concat(await request.toArray()))))
    response.end()
  })
  const Endpoint = `http://127.0.0.1:${await listening(receiver)}/`
  context.onTestFinished(() => void receiver.close())
  const ask = async (service: 'ses' | 'sns', parameters: Record<string, string>) => {
    const body = new URLSearchParams(parameters)
    const answer = await fetch(url, { method: 'POST', headers: headersFor(service), body })
    expect(answer.status).toBe(200)
    return answer.text()
  }
  const topic = async (Name: string) => {
    const [TopicArn = ''] = /arn:[^<]+/.exec(await ask('sns', { Action: 'CreateTopic', Name })) ?? []
    await ask('sns', { Action: 'Subscribe', TopicArn, Protocol: 'http', Endpoint })
    return TopicArn
  }
  /** Waits for `asking` and returns the call that the topic made meanwhile. */
  const callDuring = async (asking: Promise<unknown>) => {
    await asking
    return calls.pop() as Call
  }
  const publish = (TopicArn: string, message: object) =>
    callDuring(ask('sns', { Action: 'Publish', TopicArn, Message: JSON.stringify(message) }))
  return { url, ask, topic, publish, callDuring }
}

const EVENTS: Record<string, [to: string, expected: Pick<MailEvent, 'addresses' | 'state'>]> = {
  Bounce: ['bounce', { addresses: ['recipient1@example.com', 'recipient2@example.com'], state: 'undeliverable' }],
  Complaint: ['complaint', { addresses: ['recipient1@example.com'], state: 'complained' }],
  Delivery: ['success', { addresses: ['success@simulator.amazonses.com'], state: 'delivered' }],
}

/** moto hands on an object that names neither the kind nor our message, where Amazon hands on the text of one that does. */
const asAmazon = (notificationType: string, { Message }: Call) => ({
  ...(Message as object),
  notificationType,
  mail: { headers: [{ name: 'Message-ID', value: `<${ID}@accounts.test>` }] },
})

test('what moto tells of a message in the place of Amazon SES is understood, with a signature of its topic and no other', async (context) => {
  const moto = await startMoto(context)
  const [ours, another] = [await moto.topic('mail'), await moto.topic('of-somebody-else')]
  const urls: string[] = []
  const fromMoto = (url: string | URL | Request) => {
    urls.push(String(url))
    return fetch(moto.url + new URL(String(url)).pathname, { headers: headersFor('sns') })
  }
  const { ses } = createMailEvents(
    { mailEvents: { ses: ours }, mailReturnPath: undefined, appUrl: 'https://accounts.test' },
    { fetch: fromMoto as typeof fetch },
  )
  const read = (call: Call) =>
    ses?.read(
      { headers: new Headers({ 'Content-Type': 'text/plain' }), body: Buffer.from(JSON.stringify(call)) },
      new Date(),
    )
  const refused = (call: Call) => expect(read(call)).rejects.toMatchObject({ code: 'AUTH_001' })

  await moto.ask('ses', { Action: 'VerifyDomainIdentity', Domain: 'accounts.test' })
  for (const [NotificationType, [simulated, expected]] of Object.entries(EVENTS)) {
    const identity = { Identity: 'accounts.test', NotificationType, SnsTopic: ours }
    await moto.ask('ses', { Action: 'SetIdentityNotificationTopic', ...identity })
    const message = {
      Source: 'no-reply@accounts.test',
      'Destination.ToAddresses.member.1': `${simulated}@simulator.amazonses.com`,
      'Message.Subject.Data': 'Verify',
      'Message.Body.Text.Data': '123456',
    }
    const sent = await moto.callDuring(moto.ask('ses', { Action: 'SendEmail', ...message }))
    await refused(sent)

    const notification = asAmazon(NotificationType, sent)
    const call = await moto.publish(ours, notification)
    expect(await read(call)).toMatchObject([{ message: { deliveryId: ID }, ...expected }])
    await refused({ ...call, Message: String(call.Message).replace(ID, ID.replaceAll('0', 'f')) })
    await refused({ ...call, SigningCertURL: moto.url + new URL(call.SigningCertURL).pathname })
    await refused(await moto.publish(another, notification))
  }
  expect(urls.filter((url) => !url.startsWith(`https://sns.${REGION}.amazonaws.com/`))).toEqual([])
})
