/** What has to be paid. */
export interface Amount {
  /** In the smallest unit of the currency: 1250 stands for 12.50 EUR and for 1250 JPY. */
  minor_units: number
  /** ISO 4217, such as EUR. */
  currency: string
}

export const MAX_MINOR_UNITS = 2_147_483_647

export const isCurrency = (code: string): boolean => Intl.supportedValuesOf('currency').includes(code)

/** How many decimals an amount has: two for euros, none for yen. */
const decimalsOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 0

/** Reads an amount such as 12.50EUR, 12EUR or 1250JPY; null if it is none. */
export function parseAmount(text: string): Amount | null {
  const [, units = '', decimals, currency = ''] = /^(\d{1,10})(?:\.(\d+))?([A-Z]{3})$/.exec(text) ?? []
  if (!isCurrency(currency)) return null
  const places = decimalsOf(currency)
  if (decimals !== undefined && decimals.length !== places) return null
  const minorUnits = Number(units + (decimals ?? '0'.repeat(places)))
  return minorUnits <= MAX_MINOR_UNITS ? { minor_units: minorUnits, currency } : null
}

/** As the language writes it, such as “€12.50” and “12,50 €”. */
export const formatAmount = ({ minor_units, currency }: Amount, language: string): string =>
  new Intl.NumberFormat(language, { style: 'currency', currency }).format(minor_units / 10 ** decimalsOf(currency))

/** “Order 1042, €12.50”, as operators read it. */
export const withAmount = ({ title, amount }: { title: string; amount?: Amount | null }): string =>
  amount ? `${title}, ${formatAmount(amount, 'en')}` : title
