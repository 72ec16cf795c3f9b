import './markdown.css';
import { Component, memo, type ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Texts beyond these are shown as they are: parsing them would hold up the page, for some costs grow with their square. */
const longest = 50_000;
/** Characters that may begin or end something, in one paragraph and in all. */
const mostMarks = { paragraph: 2_000, text: 10_000 };
/** Quotes and lists in one another, begun on one line. */
const deepest = 12;

const marks = /[*_~`[\]<>&!|\\]/g;
const containers = new RegExp(`^(?:[ \\t]*(?:>|[-*+](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${deepest + 1}}`, 'm');

/** Whether a text is what people and agents write, not what somebody made to hold up the page. */
function isReasonable(text: string): boolean {
  if (text.length > longest || containers.test(text)) return false;
  const counts = text.split(/\n[ \t]*\n/).map((paragraph) => paragraph.match(marks)?.length ?? 0);
  return Math.max(...counts) <= mostMarks.paragraph && counts.reduce((sum, each) => sum + each, 0) <= mostMarks.text;
}

const components: Components = {
  // Away from here, and without saying from where.
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  // A picture of elsewhere would tell its host who reads this: it is a link, which one may follow or not.
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt || 'Picture'}
    </a>
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
  const plain = <pre className="markdown">{text}</pre>;
  if (!isReasonable(text)) return plain;
  return (
    <Otherwise shown={plain} key={text}>
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
