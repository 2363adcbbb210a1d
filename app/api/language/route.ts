import { refuseOtherMethods } from '@/server/http/methods'
import { chooseLanguage } from '@/server/pages/language-choice'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ POST: chooseLanguage })
