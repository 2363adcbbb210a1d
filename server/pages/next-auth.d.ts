import 'next-auth'
import 'next-auth/jwt'

declare module 'next-auth' {
  interface User {
    id: string
    sessionId: string
  }
  /** As the cookie tells it; whether it is still good is for the database to say. */
  interface Session {
    sessionId?: string
  }
}

declare module 'next-auth/jwt' {
  interface JWT {
    sid?: string
  }
}
