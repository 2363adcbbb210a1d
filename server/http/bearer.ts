const authorizationOf = ({ headers }: Request) => headers.get('Authorization') ?? ''

/** The bearer token, if the header is well formed. */
export const bearerOf = (request: Request) => /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorizationOf(request))?.[1]

export const isBearerSent = (request: Request) => /^Bearer\s+\S/i.test(authorizationOf(request))
