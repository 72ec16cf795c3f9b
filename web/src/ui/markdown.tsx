import './markdown.css';
import { Component, memo, type ReactNode } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { destinationToShow } from './link-text.ts';

/** Texts beyond these are shown as they are: parsing them would hold up the page, for some costs grow with their square. */
const maxLength = 50_000;
/** Characters that may begin or end something, in one paragraph and in all. */
const maxMarks = { paragraph: 2_000, text: 10_000 };
/** Quotes and lists in one another, begun on one line. */
const maxDepth = 12;

const marks = /[*_~`[\]<>&!|\\]/g;
const containers = new RegExp(`^(?:[ \\t]*(?:>|[-*+](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${maxDepth + 1}}`, 'm');

/** Whether a text is what people and agents write, not what somebody made to hold up the page. */
function isReasonable(text: string): boolean {
  if (text.length > maxLength || containers.test(text)) return false;
  const counts = text.split(/\n[ \t]*\n/).map((paragraph) => paragraph.match(marks)?.length ?? 0);
  return Math.max(...counts) <= maxMarks.paragraph && counts.reduce((sum, each) => sum + each, 0) <= maxMarks.text;
}

interface OutLinkProps {
  readonly href: string | undefined;
  /** The text as it was written, to be compared with where the link leads. */
  readonly text: string;
  readonly children: ReactNode;
}

/** A link away from here that does not say from where. Where its text names another host, its own stands beside it. */
function OutLink({ href, text, children }: OutLinkProps) {
  const destination = href === undefined ? null : destinationToShow(text, href, location.href);
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {/* What turns text around ends with the link. */}
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
  // A picture of elsewhere would tell its host who reads this: it is a link, which one may follow or not.
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
 * Markdown that somebody wrote whom nobody knows. It becomes elements, never HTML: tags in it are left out, and links can
 * only be of the usual kinds.
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

/** Shows something else in place of what cannot be shown, so that the page around it goes on. */
class Otherwise extends Component<{ readonly children: ReactNode; readonly shown: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override render() {
    return this.state.isBroken ? this.props.shown : this.props.children;
  }
}
