import { Icon } from '../ui/icons.tsx';

/** The mark of a row that can be opened, at the end of its line. */
export const FoldsMark = () => (
  <span className="folds-mark">
    <Icon name="chevron" size={14} />
  </span>
);
