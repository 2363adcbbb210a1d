/** The lifetimes that the form offers, in days. */
export const LIFETIME_DAYS = ['7', '30', '90', '365'] as const
