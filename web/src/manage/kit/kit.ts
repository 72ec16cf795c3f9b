import './manage.css';

export { ConfirmAct } from './confirm-act.tsx';
export { Editor } from './editor.tsx';
export { EditorPage } from './editor-page.tsx';
export { FormErrors, type FormProblem, Given } from './form.tsx';
export { FormDialog } from './form-dialog.tsx';
export { actsColumn, List } from './list.tsx';
export { CopyLine, ShownOnce } from './shown-once.tsx';
