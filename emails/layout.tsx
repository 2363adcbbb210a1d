import type { CSSProperties, ReactNode } from 'react'
import { Body, Container, Head, Heading, Hr, Html, Img, Link, Preview, Section, Text } from 'react-email'
import type { LetterTexts, Mails, TextsNamed } from './letter-texts'
import type { Slot } from './slot'

// For mail clients with a dark scheme; the others show the inline colours.
const darkStyles = (accent: string) => `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .canvas, .canvas > table > tbody > tr > td { background-color: #14161b !important; }
  .card { background-color: #1c1f26 !important; border-color: #30343d !important; }
  .ink { color: #f0f1f4 !important; }
  .muted { color: #abb0bb !important; }
  .line { border-color: #30343d !important; }
  .panel { background-color: #262a33 !important; border-color: #3b404b !important; }
  .action { background-color: #eceef2 !important; color: #1b1d24 !important; }
  .accent { color: ${accent} !important; }
}`

const INK = '#1b1d24'
const LINE = '#e4e4e1'
const CANVAS = '#f6f6f4'
const sans = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
const breakAnywhere = { overflowWrap: 'anywhere', wordBreak: 'break-word' } as const
const text = { ...breakAnywhere, fontSize: '16px', lineHeight: '25px', margin: '0 0 18px', color: INK }
const small = { ...text, fontSize: '14px', lineHeight: '22px', color: '#5c616c' }

/** What all letters in one language share. */
export interface Look {
  language: string
  /** The name that people know. */
  product: string
  /** The product's own site. */
  productUrl: string | null
  logoUrl: string | null
  accentColor: string
  accentInTheDark: string
  supportEmail: string
  supportUrl: string | null
  /** Whether the letter calls its reader by the name. */
  isNamed: boolean
  t: LetterTexts<'letter'>
}

/** What any text of a letter may contain: bold words, and the address of the support. */
export const marks = (look: Look) => ({
  supportEmail: look.supportEmail,
  b: (words: ReactNode) => <strong>{words}</strong>,
  support: (address: ReactNode) => (
    <>
      <TextLink look={look} href={`mailto:${look.supportEmail}`}>
        {address}
      </TextLink>
      {look.supportUrl !== null && (
        <>
          {' '}
          (
          <TextLink look={look} href={look.supportUrl}>
            {look.supportUrl}
          </TextLink>
          )
        </>
      )}
    </>
  ),
})

const titleStyle = {
  fontSize: '24px',
  lineHeight: '31px',
  fontWeight: 650,
  letterSpacing: '-0.02em',
  // Where a client knows them: lines of like length, and Japanese breaks between phrases.
  textWrap: 'balance',
  wordBreak: 'auto-phrase',
  overflowWrap: 'anywhere',
  margin: '0 0 18px',
  color: INK,
} as const

interface LayoutProps {
  look: Look
  preview: string
  title: string
  children: ReactNode
  /** Fine print at the end of the card. */
  footnote: ReactNode
  /** Why the reader got this message. */
  reason: ReactNode
}

export function Layout({ look, preview, title, children, footnote, reason }: LayoutProps) {
  return (
    <Html lang={look.language} dir="ltr">
      <Head>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <style>{darkStyles(look.accentInTheDark)}</style>
      </Head>
      <Body
        // Else it says English.
        lang={look.language}
        className="canvas"
        style={{ backgroundColor: CANVAS, margin: 0, padding: '32px 12px', fontFamily: sans }}
      >
        <Preview>{preview}</Preview>
        <Container style={{ maxWidth: '560px', margin: '0 auto' }}>
          <Sender look={look} />
          <Section
            className="card"
            style={{
              backgroundColor: '#ffffff',
              border: `1px solid ${LINE}`,
              borderRadius: '14px',
              padding: '32px 28px 14px',
            }}
          >
            <Heading as="h1" className="ink" style={titleStyle}>
              {title}
            </Heading>
            {children}
            <Hr className="line" style={{ borderColor: LINE, margin: '26px 0 18px' }} />
            <FinePrint>{footnote}</FinePrint>
          </Section>
          <Text
            className="muted"
            style={{ ...small, fontSize: '13px', lineHeight: '20px', margin: '18px 0 0', padding: '0 4px' }}
          >
            {reason}
          </Text>
        </Container>
      </Body>
    </Html>
  )
}

/** The name of the product, and its picture. */
function Sender({ look }: { look: Look }) {
  return (
    <Text className="ink" style={{ ...text, fontSize: '15px', fontWeight: 600, margin: '0 0 16px', padding: '0 4px' }}>
      {look.logoUrl !== null && (
        <Img
          src={look.logoUrl}
          alt=""
          height="28"
          style={{
            display: 'inline-block',
            height: '28px',
            maxWidth: '112px',
            verticalAlign: 'middle',
            marginRight: '10px',
          }}
        />
      )}
      {look.productUrl === null ? (
        <span style={{ verticalAlign: 'middle' }}>{look.product}</span>
      ) : (
        <Link
          href={look.productUrl}
          className="ink"
          style={{ color: INK, textDecoration: 'none', verticalAlign: 'middle' }}
        >
          {look.product}
        </Link>
      )}
    </Text>
  )
}

/** What every letter is given. */
export interface LetterProps<Name extends keyof Mails> {
  look: Look
  t: LetterTexts<Name>
  userName: Slot
}

/** When something was done, and from where. */
export interface Origin {
  /** Such as “20 November 2026 at 09:00 UTC”. */
  at: Slot
  /** Such as “Firefox on Linux”. */
  device: Slot
  ipAddress: Slot
  /** `support`: our support team did it by the operator command, and there is no client. `address`: its client has named no program. */
  client: 'whole' | 'address' | 'support' | 'none'
}

/** What stands in a letter in place of its texts of these names, and its content. */
export type FrameProps = Partial<Omit<LayoutProps, 'look'>>

interface FramedLetterProps extends FrameProps {
  look: Look
  t: TextsNamed<'preview' | 'title' | 'reason' | 'footnote'>
  userName: Slot
}

/** A letter to the owner of the account. */
export function Letter({
  look,
  t,
  userName,
  preview = t('preview'),
  title = t('title'),
  reason = t('reason'),
  footnote = t.rich('footnote', marks(look)),
  children,
}: FramedLetterProps) {
  return (
    <Layout look={look} preview={preview} title={title} reason={reason} footnote={footnote}>
      <Greeting look={look} userName={userName} />
      {children}
    </Layout>
  )
}

export const Greeting = ({ look, userName }: { look: Look; userName: Slot }) => (
  <Paragraph>{look.isNamed ? look.t('greeting', { userName }) : look.t('greetingNobody')}</Paragraph>
)

export function Paragraph({ children }: { children: ReactNode }) {
  return (
    <Text className="ink" style={text}>
      {children}
    </Text>
  )
}

export function FinePrint({ children }: { children: ReactNode }) {
  return (
    <Text className="muted" style={small}>
      {children}
    </Text>
  )
}

export function TextLink({ look, href, children }: { look: Look; href: string | Slot; children: ReactNode }) {
  return (
    <Link
      href={String(href)}
      className="accent"
      style={{ ...breakAnywhere, color: look.accentColor, textDecoration: 'underline' }}
    >
      {children}
    </Link>
  )
}

function Panel({ children, style }: { children: ReactNode; style: CSSProperties }) {
  return (
    <Section
      className="panel"
      style={{ backgroundColor: CANVAS, border: `1px solid ${LINE}`, borderRadius: '12px', ...style }}
    >
      {children}
    </Section>
  )
}

/** The code stands alone in its element, so that a double click selects it and nothing else. */
export function CodePanel({ look, code }: { look: Look; code: Slot }) {
  return (
    <Panel style={{ margin: '0 0 18px', padding: '16px 20px 18px', textAlign: 'center' }}>
      <Text style={{ margin: 0 }}>
        <span className="muted" style={{ ...small, display: 'block', margin: 0 }}>
          {look.t('code')}
        </span>{' '}
        <span
          id="code"
          className="ink"
          style={{
            display: 'block',
            fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Courier New', monospace",
            fontSize: '34px',
            lineHeight: '44px',
            fontWeight: 600,
            letterSpacing: '6px',
            paddingLeft: '6px',
            color: INK,
            userSelect: 'all',
          }}
        >
          {code}
        </span>
      </Text>
    </Panel>
  )
}

/** A button, and the same address as text for readers who cannot or do not want to press it. */
export function LinkPanel({ look, href, label }: { look: Look; href: Slot; label: string }) {
  return (
    <>
      <Section style={{ margin: '0 0 14px' }}>
        <Link
          href={String(href)}
          className="action"
          style={{
            display: 'inline-block',
            backgroundColor: INK,
            borderRadius: '9px',
            color: '#ffffff',
            fontSize: '16px',
            fontWeight: 600,
            lineHeight: '24px',
            padding: '11px 20px',
            textDecoration: 'none',
          }}
        >
          {label}
        </Link>
      </Section>
      <div data-skip-in-text="true">
        <FinePrint>
          {look.t('openLink')}{' '}
          <Link
            href={String(href)}
            className="muted"
            style={{ ...breakAnywhere, color: small.color, textDecoration: 'underline' }}
          >
            {href}
          </Link>
        </FinePrint>
      </div>
    </>
  )
}

export function originFacts(
  look: Look,
  { at, device, ipAddress, client }: Origin,
  label: 'date' | 'requestedAt' = 'date',
): FactsProps['facts'] {
  const address = [look.t('ipAddress'), ipAddress] as const
  const facts = {
    whole: [[look.t('device'), device], address],
    address: [address],
    support: [[look.t('requestedHow'), look.t('requestedBySupport')]],
    none: [],
  } as const
  return [[look.t(label), at], ...facts[client]]
}

export interface FactsProps {
  /** The label with its colon, as the language writes it. */
  facts: readonly (readonly [label: string, value: ReactNode])[]
}

export function Facts({ facts }: FactsProps) {
  return (
    <Panel style={{ margin: '0 0 20px', padding: '14px 20px 6px' }}>
      {facts.map(([label, value]) => (
        <Text key={label} className="fact" style={{ ...text, margin: '0 0 8px' }}>
          <span className="muted" style={{ color: small.color }}>
            {label}
          </span>{' '}
          <span className="ink" style={{ ...breakAnywhere, color: INK, fontWeight: 500 }}>
            {value}
          </span>
        </Text>
      ))}
    </Panel>
  )
}
