/** A ping tells of no person, so that 404 and 410, which end a deletion task, say that its address is wrong. */
export const isGoodPing = ({ status }: { status: number }) => status >= 200 && status < 300
