import * as contract from '@/contract/tasks'
import { reportOnTask } from '@/domain/withdrawal/report-on-task'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.reportOnTask, reportOnTask))
