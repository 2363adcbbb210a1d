/** The row with its times in ISO 8601. */
export const withIsoTimes = <Row extends object>(row: Row) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as { [Name in keyof Row]: Exclude<Row[Name], Date> | (Date extends Row[Name] ? string : never) }
