declare const slot: unique symbol

/**
 * A text that is filled in after the template has been rendered. A template shows it; the type keeps it from comparing, measuring or
 * changing it. It never counts as empty, so a part that only some messages have needs a property of another type.
 */
export interface Slot extends Iterable<string> {
  readonly [slot]: true
}
