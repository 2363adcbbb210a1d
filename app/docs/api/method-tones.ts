export const METHOD_TONES = { GET: 'accent', POST: 'success', PUT: 'warning', DELETE: 'danger' } as const
