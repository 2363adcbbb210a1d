import NextAuth from 'next-auth'
import { authOptions } from '@/server/auth'

const handle = (request: Request, context: { params: Promise<{ nextauth: string[] }> }) =>
  NextAuth(request as never, context as never, authOptions())

export { handle as GET, handle as POST }
