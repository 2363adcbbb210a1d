/** The digest of an error because the database is away. The error page sees the digest of an error, never the error. */
export const AWAY_DIGEST = 'database_away'
