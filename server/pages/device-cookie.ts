import { KNOWN_DEVICE_MS } from '@/domain/limits/durations'
import { readCookie, toSetCookie } from '../http/cookies'
import { getEnv } from '../settings/env'
import { systemContext } from '../system-context'

const DEVICE_COOKIE = 'device'
/** 256 random bits. */
const DEVICE = /^[A-Za-z0-9_-]{43}$/

/** The browser of a sign-in: random, so that it says nothing of the person, and no fingerprint. */
export interface SignInDevice {
  /** Undefined where a page only asks who is signed in. */
  value: string | undefined
  isSignedIn: boolean
}

const newDevice = (): SignInDevice => ({ value: systemContext().secrets.randomToken(), isSignedIn: false })

/** What this browser's cookie holds; a new value without one. A forged one recognises nobody. */
export function deviceOf(headers: Headers): SignInDevice {
  const value = readCookie(getEnv().appUrl, headers, DEVICE_COOKIE)
  return value && DEVICE.test(value) ? { value, isSignedIn: false } : newDevice()
}

/** It outlives the sign-out, because the next sign-in asks for it. */
export const deviceCookie = ({ value = '' }: SignInDevice): string =>
  toSetCookie(getEnv().appUrl, DEVICE_COOKIE, value, KNOWN_DEVICE_MS / 1000)
