import 'next-auth'
import 'next-auth/jwt'

declare module 'next-auth' {
  interface User {
    id: string
    sessionId: string
  }
  /** The id in the cookie; the database knows whether the session is still live. */
  interface Session {
    sessionId?: string
  }
}

declare module 'next-auth/jwt' {
  interface JWT {
    sid?: string
  }
}
