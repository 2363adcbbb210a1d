export const textLink = 'font-medium text-accent underline underline-offset-3'
