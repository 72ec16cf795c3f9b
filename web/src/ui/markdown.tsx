import { memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Longer texts are shown as they are: parsing them would hold up the page. */
const longest = 100_000;

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
  if (text.length > longest) return <pre className="markdown">{text}</pre>;
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
