'use client'

import { type Purpose, startReauthentication } from '@/contract/access'
import { call } from '../api'

export const reauthenticate = (userId: string, purpose: Purpose) => call(startReauthentication, { userId }, { purpose })
