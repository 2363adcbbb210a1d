/** Without its parameters, in small letters. */
export const mediaTypeOf = (headers: Headers): string =>
  ((headers.get('Content-Type') ?? '').split(';')[0] ?? '').trim().toLowerCase()
