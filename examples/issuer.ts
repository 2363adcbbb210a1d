import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

// Stands in for your own issuer of access tokens. It gives anyone a token for any person, so it listens on this machine alone.
// PORT=… npx node examples/issuer.ts, then GET /token?sub=customer-7
const { PORT = '4000', AUDIENCE = 'accounts' } = process.env
const issuer = `http://127.0.0.1:${PORT}`
const { publicKey, privateKey } = await generateKeyPair('ES256')
const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'example', alg: 'ES256', use: 'sig' }] }

/** An access token of RFC 9068. `auth_time` is when the person last proved who they are; here that is now. */
const issueToken = (subject: string) =>
  new SignJWT({ scope: 'email:manage account:manage', auth_time: Math.floor(Date.now() / 1000) })
    .setProtectedHeader({ alg: 'ES256', kid: 'example', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime('10 minutes')
    .sign(privateKey)

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
  const subject = searchParams.get('sub')
  if (pathname === '/jwks') response.end(JSON.stringify(jwks))
  else if (pathname === '/token' && subject) response.end(await issueToken(subject))
  else response.writeHead(404).end()
})
server.on('error', (error) => {
  process.stderr.write(`It cannot listen on port ${PORT}: ${error.message}. Set PORT to another.\n`)
  process.exitCode = 1
})
server.listen(Number(PORT), '127.0.0.1', () => process.stdout.write(`Listening on ${issuer}\n`))
