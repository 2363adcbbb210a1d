import * as contract from '@/contract/tasks'
import { takeTasks } from '@/domain/applications/take-tasks'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.takeTasks, takeTasks))
