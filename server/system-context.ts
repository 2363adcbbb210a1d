import { processState, type ServiceContext } from './process-state'

export const isContextOpen = (): boolean => processState.context !== undefined

/** The context that verbs get, without the request. */
export function systemContext(): ServiceContext {
  if (!processState.context) throw new Error('The service is not started; start it with npm start or npm run dev')
  return processState.context
}
