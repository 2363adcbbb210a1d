/**
 * An account, its changes of address and its withdrawal, in a primary and a replica that may be behind, with the erasure ledger beside
 * them and instances that serve. Everything happens in steps: `Guards` says when a step may happen, `Effects` what it leaves.
 * A property is checked without a planted bug; each bug then breaks the property that is named beside it.
 * npm run lab -- model runs every command; docs/guarantees.md says the properties in words.
 */
module account
open util/ordering[Place] as places

sig Address {}
sig Account { initial: one Address }
sig Change { of: one Account, to: one Address }
sig Instance {}
/** Of a line in the ledger. */
sig Place {}

abstract sig Database {
  var address: Account -> one Address,
  var pending, verified, reverted: set Change,
  /** The address that a verified change has replaced. */
  var old: Change -> lone Address,
  /** The changes that were verified after it. */
  var later: Change -> Change,
  var withdrawn: set Account,
  /** The lines as this database has written them. */
  var chain: Place -> lone Account
}
one sig Primary, Replica extends Database {}
one sig Store { var lines: Place -> lone Account }
/** The primary answers only what the replica has. */
lone sig Synchronous {}
/** Lines that an instance has read and not stored yet. */
one sig Network { var lines: Place -> Account }
/** Instances that have compared the database since their connections were opened. */
var sig Level in Instance {}
/** What clients were told: their change is verified, their account is withdrawn. */
var sig ToldVerified in Change {}
var sig ToldWithdrawn in Account {}

enum Event { Request, Verify, Undo, Withdraw, Append, Send, Arrive, Answer, Read, Replicate, Failover, Compare, Replay, Doubt, Nothing }
one sig Step { var event: one Event, var account: one Account, var change: one Change, var instance: one Instance, var place: one Place }

enum Bug {
  AnswerBeforeLine, NoComparison, NoDoubt, OverwrittenLine, MarkByPlace, UndoOfUndo, LaterChangeStays, AddressNotHeld, TakenAddress,
  SupersededVerifies, WithdrawalKeepsPending, ReplayKeepsPending
}
sig Planted in Bug {}

fun lost: set Account { Place.(Store.lines) - Primary.withdrawn }
fun unknown: Place -> Account { Store.lines - Primary.chain }
fun undoable: set Change { Primary.verified - (of.(Primary.withdrawn)) }
/** Addresses that nobody but this account may take. */
fun heldBy [a: Account]: set Address {
  a.(Primary.address) + (AddressNotHeld in Planted => none else (undoable & of.a).(Primary.old))
}
fun heldByOthers [a: Account]: set Address { { x: Address | some b: Account - a - Primary.withdrawn | x in heldBy[b] } }
fun undone [c: Change]: set Change { c + (LaterChangeStays in Planted => none else c.(Primary.later) & Primary.verified) }
fun cancelled [e: Event, a: Account, c: Change]: set Change {
  (e = Undo or (e = Request and SupersededVerifies not in Planted) or (e = Withdraw and WithdrawalKeepsPending not in Planted)) => of.a
  else (e = Replay and ReplayKeepsPending not in Planted) => of.lost
  else e = Verify => c else none
}
fun nextPlace: lone Place { no Primary.chain => places/first else places/next[places/max[Primary.chain.Account]] }

pred same [d, e: Database] {
  d.address' = e.address and d.pending' = e.pending and d.verified' = e.verified and d.reverted' = e.reverted
  d.old' = e.old and d.later' = e.later and d.withdrawn' = e.withdrawn and d.chain' = e.chain
}

pred equal [d, e: Database] {
  d.address = e.address and d.pending = e.pending and d.verified = e.verified and d.reverted = e.reverted
  d.old = e.old and d.later = e.later and d.withdrawn = e.withdrawn and d.chain = e.chain
}

pred Begins {
  all d: Database | d.address = initial and no d.pending + d.verified + d.reverted and no d.old and no d.later
  all d: Database | no d.withdrawn and no d.chain
  all disj a, b: Account | a.initial != b.initial
  no Store.lines and no Network.lines and Level = Instance and no ToldVerified and no ToldWithdrawn
}

pred Guards [e: Event, i: Instance, a: Account, c: Change, p: Place] {
  e in Request + Verify + Undo + Withdraw + Append + Answer + Read implies i in Level
  e in Request + Verify + Undo implies c.of = a
  e in Request + Undo + Withdraw + Read implies a not in Primary.withdrawn
  e = Request implies c not in Primary.(pending + verified + reverted) and c.to not in heldByOthers[a]
  e = Verify implies {
    c in Primary.pending or (UndoOfUndo in Planted and c in Primary.reverted)
    c.to not in heldByOthers[a] or TakenAddress in Planted
  }
  e = Undo implies c in undoable
  e = Append implies a in Primary.withdrawn - Place.(Primary.chain) and p = nextPlace
  e = Send implies p -> a in Primary.chain - Store.lines
  e = Arrive implies p -> a in Network.lines
  e = Answer implies a in Primary.withdrawn - ToldWithdrawn and Primary.chain.a = p and {
    AnswerBeforeLine in Planted or p -> a in Store.lines or (MarkByPlace in Planted and p in Store.lines.Account)
  }
  e = Failover implies Level = Instance
  e = Compare implies i not in Level and (no unknown or NoComparison in Planted)
  e = Replay implies i not in Level and some unknown
  e = Doubt implies i in Level and some unknown and NoDoubt not in Planted
}

pred Effects [e: Event, i: Instance, a: Account, c: Change, p: Place] {
  e = Failover implies same[Primary, Replica] else {
    Primary.pending' = Primary.pending - cancelled[e, a, c] + (e = Request => c else none)
    Primary.address' = Primary.address ++ (e = Verify => a -> c.to else e = Undo => a -> c.(Primary.old) else none -> none)
    Primary.verified' = Primary.verified + (e = Verify => c else none) - (e = Undo => undone[c] else none)
    Primary.reverted' = Primary.reverted + (e = Undo => undone[c] else none) - (e = Verify => c else none)
    Primary.old' = Primary.old ++ (e = Verify => c -> a.(Primary.address) else none -> none)
    Primary.later' = Primary.later + (e = Verify => (Primary.verified & of.a) -> c else none -> none)
    Primary.withdrawn' = Primary.withdrawn + (e = Withdraw => a else e = Replay => lost else none)
    // Lines that are not in the store get a place again, after those that are.
    Primary.chain' = (e = Replay => Store.lines else Primary.chain + (e = Append => p -> a else none -> none))
  }
  some Synchronous => (after equal[Replica, Primary]) else e = Replicate => same[Replica, Primary] else same[Replica, Replica]
  Network.lines' = Network.lines + (e = Send => p -> a else none -> none) - (e = Arrive => p -> a else none -> none)
  Store.lines' = (e = Arrive and (p not in Store.lines.Account or OverwrittenLine in Planted) => Store.lines ++ p -> a else Store.lines)
  Level' = (e = Failover => none else e = Compare => Level + i else e = Doubt => Level - i else Level)
  ToldVerified' = ToldVerified + (e = Verify => c else none) - (e = Undo => undone[c] else none)
  ToldWithdrawn' = ToldWithdrawn + (e = Answer => a else none)
}

fact Behaviour {
  Begins
  always let s = Step |
    Guards[s.event, s.instance, s.account, s.change, s.place] and Effects[s.event, s.instance, s.account, s.change, s.place]
}

pred happens [e: Event] { Step.event = e }
fun heldOrUndoable [a: Account]: set Address { a.(Primary.address) + (undoable & of.a).(Primary.old) }

// The properties.

/** An address belongs to one account at most, and what an undo would restore is free. */
pred OneHolder { always all disj a, b: Account - Primary.withdrawn | no heldOrUndoable[a] & heldOrUndoable[b] }
/** An account has one pending change at most. */
pred OnePending { always all a: Account | lone Primary.pending & of.a }
/** An undo gives the old address back, and ends every later change too. */
pred UndoRestores {
  always all c: Step.change, a: c.of, x: c.(Primary.old) | happens[Undo] implies let l = c.(Primary.later) |
    after (a.(Primary.address) = x and no (c + l) & Primary.verified)
}
/** What was undone is never verified again, unless the database has lost the undo. */
pred UndoIsFinal { always all c: Primary.reverted | happens[Failover] or after c in Primary.reverted }
/** A withdrawn account has no pending change, and its address does not change. */
pred WithdrawnIsOver {
  always no Primary.pending & of.(Primary.withdrawn)
  always not (happens[Verify] and Step.account in Primary.withdrawn)
}
/** An account is withdrawn only if its owner has asked for that. */
pred NobodyElse { always all a: Primary.withdrawn | once (happens[Withdraw] and Step.account = a) }
/** Every withdrawal that was answered stands in the ledger. */
pred AnswerHasLine { always ToldWithdrawn in Place.(Store.lines) }
/** After the answer no call of the person is served, whatever the database has lost. */
pred NeverServedAgain { always not (happens[Read] and Step.account in ToldWithdrawn) }
/** A line is never changed. */
pred LineStays { always all p: Place, a: Account | p -> a in Store.lines implies after p -> a in Store.lines }
/** With synchronous replication no acknowledged change of address is lost. */
pred NothingLost { some Synchronous implies always ToldVerified in Primary.verified }
/** Whom the ledger names, the database withdraws again, however late the line came. */
pred LedgerWins { Fair and (eventually always not happens[Failover]) implies eventually always no lost }

/** What an instance can do it does at some time. */
pred Fair {
  all i: Instance | NoDoubt in Planted or not eventually always (i in Level and some unknown and not (happens[Doubt] and Step.instance = i))
  not eventually always (Level != Instance and some unknown and not happens[Replay])
}

check OneHolder { no Planted implies OneHolder } for 3 but 2 Account, 2 Instance, 1..12 steps
check OnePending { no Planted implies OnePending } for 3 but 2 Account, 2 Instance, 1..12 steps
check UndoRestores { no Planted implies UndoRestores } for 3 but 2 Account, 2 Instance, 1..12 steps
check UndoIsFinal { no Planted implies UndoIsFinal } for 3 but 2 Account, 2 Instance, 1..12 steps
check WithdrawnIsOver { no Planted implies WithdrawnIsOver } for 3 but 2 Account, 2 Instance, 1..12 steps
check NobodyElse { no Planted implies NobodyElse } for 3 but 2 Account, 2 Instance, 1..12 steps
check AnswerHasLine { no Planted implies AnswerHasLine } for 3 but 2 Account, 2 Instance, 1..12 steps
check NeverServedAgain { no Planted implies NeverServedAgain } for 3 but 2 Account, 2 Instance, 1..12 steps
check LineStays { no Planted implies LineStays } for 3 but 2 Account, 2 Instance, 1..12 steps
check NothingLost { no Planted implies NothingLost } for 3 but 2 Account, 2 Instance, 1..12 steps
check LedgerWins { no Planted implies LedgerWins } for 3 but 2 Account, 2 Instance, 1..12 steps

// What has to be possible, so that no property holds because nothing happens.

pred order [d, e, f, g: Event] { no Planted and eventually (happens[d] and eventually (happens[e] and eventually (happens[f] and eventually happens[g]))) }
run ChangeIsUndone { order[Request, Verify, Undo, Read] } for 3 but 1..12 steps
run WithdrawalIsReplayed { order[Answer, Failover, Replay, Compare] } for 3 but 1..12 steps
run LateLineIsNoticed { order[Failover, Arrive, Doubt, Replay] } for 3 but 1..12 steps
run SynchronousFailover { some Synchronous and order[Request, Verify, Failover, Read] } for 3 but 1..12 steps
/** What docs/operations.md says of asynchronous replication. */
run AsynchronousMayLoseChange { no Planted + Synchronous and not always ToldVerified in Primary.verified } for 3 but 1..12 steps

// Each planted bug breaks a property.

run AnswerBeforeLineFound { Planted = AnswerBeforeLine and not AnswerHasLine } for 3 but 2 Account, 2 Instance, 1..12 steps
run NoComparisonFound { Planted = NoComparison and not NeverServedAgain } for 3 but 2 Account, 2 Instance, 1..12 steps
run NoDoubtFound { Planted = NoDoubt and not LedgerWins } for 3 but 2 Account, 2 Instance, 1..12 steps
run OverwrittenLineFound { Planted = OverwrittenLine and not LineStays } for 3 but 2 Account, 2 Instance, 1..12 steps
run MarkByPlaceFound { Planted = MarkByPlace and not AnswerHasLine } for 3 but 2 Account, 2 Instance, 1..12 steps
run UndoOfUndoFound { Planted = UndoOfUndo and not UndoIsFinal } for 3 but 2 Account, 2 Instance, 1..12 steps
run LaterChangeStaysFound { Planted = LaterChangeStays and not UndoRestores } for 3 but 2 Account, 2 Instance, 1..12 steps
run AddressNotHeldFound { Planted = AddressNotHeld and not OneHolder } for 3 but 2 Account, 2 Instance, 1..12 steps
run TakenAddressFound { Planted = TakenAddress and not OneHolder } for 3 but 2 Account, 2 Instance, 1..12 steps
run SupersededVerifiesFound { Planted = SupersededVerifies and not OnePending } for 3 but 2 Account, 2 Instance, 1..12 steps
run WithdrawalKeepsPendingFound { Planted = WithdrawalKeepsPending and not WithdrawnIsOver } for 3 but 2 Account, 2 Instance, 1..12 steps
run ReplayKeepsPendingFound { Planted = ReplayKeepsPending and not WithdrawnIsOver } for 3 but 2 Account, 2 Instance, 1..12 steps
