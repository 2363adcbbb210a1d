import * as contract from '@/contract/tasks'
import { retryTask } from '@/domain/applications/operate-tasks'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.retryTask, retryTask))
