export { EnglishLayout as default } from '@/app/english-layout'
