import { Component, createContext, type ErrorInfo, type ReactNode } from 'react';
import { onRecovery, whenAnswering } from '../relay/connectivity.ts';
import { common } from '../texts/common.ts';
import { Failed, Loading } from './states.tsx';

interface Props {
  readonly children: ReactNode;
  /** A change of this value clears the error. */
  readonly resetKey?: string;
  /** True around the frame of the pages: nothing else says then that the service cannot be reached. */
  readonly isOutermost?: boolean;
  /** Further actions for the user. */
  readonly more?: ReactNode;
}

interface State {
  readonly error: Error | null;
}

/**
 * Drops all fetched data, so that it is fetched again: Relay caches failures too. The app provides it, since it has the
 * environment.
 */
export const RenewContext = createContext<() => void>(() => undefined);

const isUnreachable = ({ name }: Error) => name === 'UnreachableError';

/** The delay before the boundary asks if an unreachable service answers, if nothing else notices before that it does. */
const againMs = 2_000;

/**
 * Shows an error in place of its children, with a retry button unless a permission is missing. While the service cannot be reached,
 * it shows a placeholder, and retries as soon as the service answers: a retry renews the whole page, also the parts that work.
 */
export class ErrorBoundary extends Component<Props, State> {
  static override contextType = RenewContext;
  declare context: () => void;
  override state: State = { error: null };
  #timer = 0;
  #stopListening: () => void = () => undefined;

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.error && before.resetKey !== this.props.resetKey) {
      this.#stopWaiting();
      this.setState({ error: null });
    }
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    if (isUnreachable(error)) {
      this.#stopWaiting();
      const timer = window.setTimeout(async () => {
        await whenAnswering();
        if (timer === this.#timer) this.#retry();
      }, againMs);
      this.#timer = timer;
      this.#stopListening = onRecovery(this.#retry);
      return;
    }
    // For error reporting: the page itself shows one sentence.
    window.reportError(new Error(`${error.message}${info.componentStack ?? ''}`, { cause: error }));
  }

  override componentWillUnmount() {
    this.#stopWaiting();
  }

  #stopWaiting() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#stopListening();
  }

  readonly #retry = () => {
    this.#stopWaiting();
    this.setState({ error: null });
    this.context();
  };

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    if (isUnreachable(error) && !this.props.isOutermost) return <Loading label={common.loading} isWaiting />;
    const isRefused = 'code' in error && error.code === 'FORBIDDEN';
    return (
      <Failed message={error.message} {...(isRefused ? {} : { onRetry: this.#retry })}>
        {this.props.more}
      </Failed>
    );
  }
}
