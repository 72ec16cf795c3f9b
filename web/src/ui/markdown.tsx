import './markdown.css';
import { Component, memo, type ReactNode } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { destinationToShow } from './link-text.ts';

/** Longer texts are shown without formatting: parsing them would block the page, since some costs are quadratic. */
const maxLength = 50_000;
/** The maximum number of markup characters per paragraph and in total. */
const maxMarks = { paragraph: 2_000, text: 10_000 };
/** The maximum depth of quotes and lists opened on one line. */
const maxDepth = 12;

const marks = /[*_~`[\]<>&!|\\]/g;
const containers = new RegExp(`^(?:[ \\t]*(?:>|[-*+](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${maxDepth + 1}}`, 'm');

/** Returns true for ordinary text, false for text built to block the page. */
function isReasonable(text: string): boolean {
  if (text.length > maxLength || containers.test(text)) return false;
  const counts = text.split(/\n[ \t]*\n/).map((paragraph) => paragraph.match(marks)?.length ?? 0);
  return Math.max(...counts) <= maxMarks.paragraph && counts.reduce((sum, each) => sum + each, 0) <= maxMarks.text;
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
          leads to <bdi dir="ltr">{destination}</bdi>
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
      {alt || 'Picture'}
    </OutLink>
  ),
  table: ({ children }) => (
    <div className="table-box">
      <table>{children}</table>
    </div>
  ),
};

const plugins = [remarkGfm];

/**
 * Untrusted Markdown. It becomes React elements, never HTML: tags are dropped, and links are limited to common schemes.
 */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const plainText = <pre className="markdown">{text}</pre>;
  if (!isReasonable(text)) return plainText;
  return (
    <Otherwise shown={plainText} key={text}>
      <div className="markdown">
        <ReactMarkdown remarkPlugins={plugins} components={components}>
          {text}
        </ReactMarkdown>
      </div>
    </Otherwise>
  );
});

/** Shows a fallback for content that cannot be rendered, so that the page around it keeps working. */
class Otherwise extends Component<{ readonly children: ReactNode; readonly shown: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override render() {
    return this.state.isBroken ? this.props.shown : this.props.children;
  }
}
