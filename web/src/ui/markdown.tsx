import { markdown as texts } from '../texts/ui.ts';
import { RichText } from './rich-text.tsx';
import './markdown.css';
import { Component, memo, type ReactNode, useState } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { destinationToShow } from './link-text.ts';
import { type MarkdownBlock, MarkdownBlocks, settleMarkdown, withDefinitions } from './markdown-blocks.ts';
import { usePacedText } from './use-paced-text.ts';

/** A longer block is shown without formatting: parsing it would block the page, since some costs are quadratic. */
const maxLength = 50_000;
/** The maximum number of markup characters per paragraph and in a text; what follows is shown without formatting. */
const maxMarks = { paragraph: 2_000, text: 10_000 };
/** The maximum depth of quotes and lists opened on one line. */
const maxDepth = 12;

const marks = /[*_~`[\]<>&!|\\]/g;
const containers = new RegExp(`^(?:[ \\t]*(?:>|[-*+](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${maxDepth + 1}}`, 'm');

/** Counts the markup characters of a block; infinitely many if it was built to block the page. */
function countMarks({ text, code }: MarkdownBlock): number {
  if (code !== null) return 0;
  if (text.length > maxLength || containers.test(text)) return Number.POSITIVE_INFINITY;
  const counts = text.split(/\n[ \t]*\n/).map((paragraph) => paragraph.match(marks)?.length ?? 0);
  return Math.max(...counts) <= maxMarks.paragraph
    ? counts.reduce((sum, each) => sum + each, 0)
    : Number.POSITIVE_INFINITY;
}

/** Counts those of the blocks of a growing text, each of which is an object of its own that does not change. */
const marksOf = new WeakMap<MarkdownBlock, number>();
function marksIn(block: MarkdownBlock): number {
  const known = marksOf.get(block) ?? countMarks(block);
  marksOf.set(block, known);
  return known;
}

interface OutLinkProps {
  readonly href: string | undefined;
  /** The text as written, to compare with the link's target. */
  readonly text: string;
  readonly children: ReactNode;
}

/** An external link without a referrer. If its text names another host, the link's own host is shown beside it. */
function OutLink({ href, text, children }: OutLinkProps) {
  const destination = href === undefined ? null : destinationToShow(text, href, location.href);
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {/* Bidirectional marks end with the link. */}
        <bdi>{children}</bdi>
      </a>
      {destination !== null && (
        <span className="destination">
          <RichText text={texts.leadsTo} slots={{ destination: <bdi dir="ltr">{destination}</bdi> }} />
        </span>
      )}
    </>
  );
}

type HastNode = NonNullable<ExtraProps['node']>;

function textOf(node: HastNode | HastNode['children'][number] | undefined): string {
  if (node?.type === 'text') return node.value;
  if (node?.type !== 'element') return '';
  if (node.tagName === 'img') return String(node.properties.alt ?? '');
  return node.tagName === 'br' ? '\n' : node.children.map(textOf).join('');
}

const components: Components = {
  a: ({ href, node, children }) => (
    <OutLink href={href} text={textOf(node)}>
      {children}
    </OutLink>
  ),
  // An external image would reveal the reader to its host, so it becomes a link.
  img: ({ src, alt }) => (
    <OutLink href={typeof src === 'string' ? src : undefined} text={alt ?? ''}>
      {alt || texts.image}
    </OutLink>
  ),
  // The checkbox of a task, which has no label of its own.
  input: ({ type, checked }) =>
    type === 'checkbox' ? (
      <input
        type="checkbox"
        checked={checked === true}
        disabled={true}
        aria-label={checked === true ? texts.done : texts.toDo}
      />
    ) : null,
  table: ({ children }) => (
    <div className="table-box">
      <table>{children}</table>
    </div>
  ),
};

const plugins = [remarkGfm];

interface MarkdownProps {
  readonly text: string;
  /** True while the text is being written. */
  readonly isOpen?: boolean;
}

/**
 * Untrusted Markdown. It becomes React elements, never HTML: tags are dropped, and links are limited to common schemes.
 * Of a text that grows, only the last block is rendered again.
 */
export const Markdown = memo(function Markdown({ text, isOpen = false }: MarkdownProps) {
  const paced = usePacedText(text, isOpen);
  const [reader] = useState(() => new MarkdownBlocks());
  const blocks = reader.of(paced);
  const definitions = reader.definitions(isOpen);
  let total = 0;
  return (
    <div className="markdown">
      {blocks.map((block, index) => {
        const isLast = isOpen && index === blocks.length - 1;
        const isPlain = total + marksIn(block) > maxMarks.text;
        if (!isPlain) total += marksIn(block);
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only added at the end.
        return <Block key={index} {...block} isLast={isLast} isPlain={isPlain} definitions={definitions} />;
      })}
    </div>
  );
});

interface BlockProps extends MarkdownBlock {
  readonly isLast: boolean;
  readonly isPlain: boolean;
  readonly definitions: string;
}

const Block = memo(
  function Block({ text, code, isLast, isPlain, definitions }: BlockProps) {
    if (code !== null) {
      return (
        <pre>
          {linesInParts(code).map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are only added at the end.
            <Lines key={index} text={part} />
          ))}
        </pre>
      );
    }
    const plainText = <pre className="plain">{text}</pre>;
    if (isPlain) return plainText;
    const settled = isLast ? settleMarkdown(text) : text;
    return (
      <Otherwise shown={plainText} text={text}>
        <ReactMarkdown remarkPlugins={plugins} components={components}>
          {withDefinitions(settled, definitions)}
        </ReactMarkdown>
      </Otherwise>
    );
  },
  (before, after) =>
    before.text === after.text &&
    before.isLast === after.isLast &&
    before.isPlain === after.isPlain &&
    (before.definitions === after.definitions || !after.text.includes('[')),
);

/** The number of lines of a code block in an element: only the last one changes when the block grows. */
const linesInPart = 40;

function linesInParts(code: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let count = 0;
  for (let end = code.indexOf('\n'); end >= 0; end = code.indexOf('\n', end + 1)) {
    count += 1;
    if (count % linesInPart !== 0) continue;
    parts.push(code.slice(start, end + 1));
    start = end + 1;
  }
  if (start < code.length || parts.length === 0) parts.push(code.slice(start));
  return parts;
}

const Lines = memo(function Lines({ text }: { readonly text: string }) {
  return (
    <span className="lines">
      <code>{text}</code>
    </span>
  );
});

interface OtherwiseProps {
  readonly children: ReactNode;
  readonly shown: ReactNode;
  /** The content; another one is rendered again. */
  readonly text: string;
}

/** Shows a fallback for content that cannot be rendered, so that the page around it keeps working. */
class Otherwise extends Component<OtherwiseProps, { readonly isBroken: boolean; readonly text: string }> {
  override state = { isBroken: false, text: this.props.text };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  static getDerivedStateFromProps({ text }: OtherwiseProps, state: { readonly text: string }) {
    return text === state.text ? null : { isBroken: false, text };
  }

  override render() {
    return this.state.isBroken ? this.props.shown : this.props.children;
  }
}
