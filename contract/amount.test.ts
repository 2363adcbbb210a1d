import { expect, test } from 'vitest'
import { formatAmount, parseAmount } from './amount'

test.each([
  ['12.50EUR', 1250, 'EUR'],
  ['12EUR', 1200, 'EUR'],
  ['0.05USD', 5, 'USD'],
  ['1250JPY', 1250, 'JPY'],
  ['1.234KWD', 1234, 'KWD'],
  ['21474836.47EUR', 2_147_483_647, 'EUR'],
])('%s is %i of the smallest unit of %s', (text, minor_units, currency) => {
  expect(parseAmount(text)).toEqual({ minor_units, currency })
})

test('B123 an amount is written as the language of its reader writes it', () => {
  const written = (language: string) =>
    formatAmount({ minor_units: 125_050, currency: 'EUR' }, language).replaceAll(/\s/g, ' ')
  expect(['en', 'de', 'fr', 'ja'].map(written)).toEqual(['€1,250.50', '1.250,50 €', '1 250,50 €', '€1,250.50'])
  expect(formatAmount({ minor_units: 1250, currency: 'JPY' }, 'ja')).toBe('￥1,250')
})
