/** What the service answers where the page and its token name two people. */
export const isOtherPerson = (code: unknown) => code === 'AUTH_002' || code === 'WITHDRAWAL_005'
