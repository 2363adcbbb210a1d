/** The style of a link inside a text. */
export const textLink = 'font-medium text-accent underline underline-offset-3'
