import * as contract from '@/contract/page-tokens'
import { issuePageToken } from '@/domain/sessions/issue-page-token'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.issuePageToken, issuePageToken))
