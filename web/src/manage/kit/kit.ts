import './manage.css';

export { ConfirmAct } from '../../ui/confirm-act.tsx';
export { Editor } from './editor.tsx';
export { EditorPage, type SaveResult, saveResultOf } from './editor-page.tsx';
export { FormErrors, type FormProblem, Given } from './form.tsx';
export { FormDialog } from './form-dialog.tsx';
export { actsColumn, List } from './list.tsx';
export type { Saved } from './saved-meanwhile.tsx';
export { CopyLine, ShownOnce } from './shown-once.tsx';
export type { Values } from './values.ts';
