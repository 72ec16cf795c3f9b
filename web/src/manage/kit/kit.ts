import './manage.css';

export { Editor } from './editor.tsx';
export { FormErrors, type FormProblem, Given } from './form.tsx';
export { FormDialog } from './form-dialog.tsx';
export { actsColumn, List } from './list.tsx';
export { CopyLine, ShownOnce } from './shown-once.tsx';
