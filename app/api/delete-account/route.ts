import { refuseOtherMethods } from '@/server/http/methods'
import { askForDeletion } from '@/server/pages/ask-for-deletion'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ POST: askForDeletion })
