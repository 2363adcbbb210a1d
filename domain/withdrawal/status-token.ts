import { derivedToken } from '../derived-token'

export const { create: createStatusToken, isOf: isStatusTokenOf } = derivedToken('wst_', 'status-token')
