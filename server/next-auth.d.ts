import 'next-auth'
import 'next-auth/jwt'

declare module 'next-auth' {
  interface User {
    id: string
    sessionId: string
  }
  interface Session {
    user: { id: string; name: string; email: string }
    sessionId: string
    /** Opens /api/v1 for this session, ten minutes at most; kept in memory only. */
    accessToken: string
    accessTokenExpiresAt: string
  }
}

declare module 'next-auth/jwt' {
  interface JWT {
    sid?: string
  }
}
