//! The output of a running command on its way to the caller, and the input on its way to the command.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::command_pipes::{
    CommandInputWriter, CommandOutputReader, HeldStreams, InputTaken, OutputStreams, ReadResult, TerminalIo,
};
use super::early_ends::BackgroundMove;
use crate::live::runs;
use crate::request::PlannedRun;
use crate::run::command_listener::{CallerReply, CommandListener, LiveView};
use crate::run::output_readers::WholeOutputReaders;
use crate::run::waiting_watch::BlockedWatches;
use capture::OutputStream;
use protocol::CommandPipes;

/// The addon's ends of the pipes, and the listener's delay.
pub struct CommandOutput<'a, L> {
    pub request: &'a PlannedRun,
    pub listener: &'a L,
    /// Pid of the shell, once its start is known. Before that, a terminal can have no listener.
    pub pid: Option<i32>,
    pub streams: OutputStreams,
    /// What reads the whole of both streams.
    pub readers: WholeOutputReaders<'a>,
    pub input: CommandInputWriter,
    pub terminal: Option<TerminalIo>,
    delivery: OutputDelivery,
    /// The live views. `None` if the listener wants none.
    views: Option<LiveViews>,
    pub watches: BlockedWatches,
    /// The beginning of a log, in case the command moves to the background.
    pub moving: BackgroundMove,
    /// Facts for the caller.
    pub notes: Vec<String>,
}

impl<'a, L: CommandListener> CommandOutput<'a, L> {
    /// # Errors
    /// If the pipes cannot be watched.
    pub fn new(request: &'a PlannedRun, pipes: CommandPipes, listener: &'a L, began: Instant) -> io::Result<Self> {
        let CommandPipes { stdin, stdout, stderr, other_end } = pipes;
        let stdout = CommandOutputReader::new(OutputStream::Stdout, stdout, request)?;
        let stderr = stderr.map(|pipe| CommandOutputReader::new(OutputStream::Stderr, pipe, request)).transpose()?;
        Ok(Self {
            request,
            listener,
            pid: None,
            streams: OutputStreams { stdout, stderr, last: OutputStream::Stdout },
            readers: WholeOutputReaders::new(request),
            input: CommandInputWriter::new(stdin, request.stdin.as_deref().unwrap_or_default(), request.is_fed())?,
            terminal: request.terminal.as_ref().map(|terminal| TerminalIo::new(terminal, other_end)).transpose()?,
            delivery: OutputDelivery::new(request.live),
            views: request.live_view_interval.map(|every| LiveViews::new(every, began)),
            watches: BlockedWatches::new(request.reports_prompts, began),
            moving: BackgroundMove::of(request, began),
            notes: Vec::new(),
        })
    }

    /// Handles the start of the shell.
    pub fn on_start(&mut self, pid: i32) {
        self.pid = Some(pid);
        if let Some(run) = &self.request.live_run {
            run.on_start(pid);
            runs().on_change();
        }
        if self.request.reports_start {
            self.listener.started(pid, &self.request.cwd);
        }
        // A program may have written before its pid was known.
        self.deliver_data();
    }

    /// Handles the exit of the shell.
    pub fn on_exit(&mut self) {
        self.moving.cancel();
        self.input.close();
        if let Some(terminal) = &mut self.terminal {
            terminal.on_exit();
        }
        if self.request.streams.is_some() {
            self.answer_input();
            self.listener.exited();
        }
    }

    /// Handles the move of the command to a task, whose log has the whole of both streams.
    pub fn on_moved(&mut self, log: &Path) {
        self.streams.all_mut().for_each(|reader| reader.moved_to(log));
    }

    /// Returns the streams that must not be read now, because the listener, the caller or the shim comes first.
    pub fn held_streams(&self) -> HeldStreams {
        let all = self.moving.is_under_way() || self.terminal.as_ref().is_some_and(TerminalIo::is_full);
        let holds = |reader: &CommandOutputReader| {
            all || reader.awaits_path() || self.delivery.is_full(reader.capture.live_bytes())
        };
        let OutputStreams { stdout, stderr, .. } = &self.streams;
        HeldStreams { stdout: holds(stdout), stderr: stderr.as_ref().is_some_and(holds) }
    }

    /// Returns whether the terminal was sent more than could be drawn at once.
    pub fn is_behind(&self) -> bool {
        self.terminal.as_ref().is_some_and(TerminalIo::is_behind)
    }

    /// Returns whether a listener can still delay the result.
    pub fn may_delay(&self) -> bool {
        self.delivery.may_delay() || self.terminal_has_text()
    }

    /// Returns whether a listener has not taken everything, or the caller has not said where a whole stream goes.
    pub fn is_pending(&self) -> bool {
        self.terminal_has_text() || self.delivery.is_pending() || self.streams.await_path()
    }

    /// Returns when the next live view is due.
    pub fn view_at(&self) -> Option<Instant> {
        self.views.as_ref().and_then(LiveViews::due_at)
    }

    /// Shows the listener the current view of the command, if a view is due.
    pub fn show_view(&mut self, now: Instant) {
        if let (Some(pid), Some(views)) = (self.pid, &mut self.views)
            && let Some([stdout, stderr]) = views.next(now, || self.streams.tails())
        {
            let elapsed = views.elapsed();
            self.listener.live_view(LiveView { pid, stdout, stderr, elapsed });
        }
    }

    /// Reads a readable stream. Returns whether the read had a result.
    pub fn read(&mut self, stream: OutputStream) -> bool {
        let Self { streams, readers, .. } = self;
        let mut on_text = |text: &str| readers.push(stream, text);
        let read = streams.get_mut(stream).is_some_and(|reader| reader.read(&mut on_text) != ReadResult::Nothing);
        if read {
            self.pass_on(stream);
        }
        read
    }

    /// Reads a stream without asking the runtime whether it can be read. Returns whether there was output.
    pub fn read_now(&mut self, stream: OutputStream) -> bool {
        let Self { streams, readers, .. } = self;
        let Some(reader) = streams.get_mut(stream) else { return false };
        let mut on_text = |text: &str| readers.push(stream, text);
        let read = reader.is_open() && reader.read_now(&mut on_text) == ReadResult::Output;
        if read {
            self.pass_on(stream);
        }
        read
    }

    /// Draws more of the text that the terminal was sent. Returns whether the text counts as output: the rest of a
    /// terminated command is only passed on.
    pub fn draw_more(&mut self, terminated: bool) -> bool {
        if let Some(terminal) = &self.terminal {
            terminal.draw_more();
        }
        if terminated {
            self.deliver_data();
        } else {
            self.pass_on(OutputStream::Stdout);
        }
        !terminated
    }

    /// Ends the output.
    pub fn end(&mut self) {
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            let Self { streams, readers, .. } = self;
            if let Some(reader) = streams.get_mut(stream) {
                reader.capture.end_to(|text| readers.push(stream, text));
                self.pass_on(stream);
            }
        }
        while let Some((stream, text)) = self.delivery.next_for_watchers(&mut self.streams) {
            self.listener.output(stream, text);
        }
        if let Some(terminal) = &self.terminal {
            terminal.finish_data();
            self.deliver_data();
        }
    }

    /// Passes on the new output of a stream: to the journal, the file with the whole output, and the listener.
    fn pass_on(&mut self, stream: OutputStream) {
        let Some(reader) = self.streams.get_mut(stream) else { return };
        self.moving.on_output(&reader.capture.take_journal());
        if reader.capture.wants_spill() && reader.spill(self.request) {
            self.listener.allocate(stream);
        }
        if self.delivery.leaves_out(reader.capture.live_bytes()) {
            reader.capture.drop_live();
        }
        if reader.capture.live_bytes() > 0 {
            self.delivery.on_text(stream);
        }
        self.streams.last = stream;
        self.watches.on_output();
        if let Some(views) = &mut self.views {
            views.on_output();
        }
        self.deliver();
        self.deliver_data();
    }

    fn deliver(&mut self) {
        if let Some((stream, text)) = self.delivery.next(&mut self.streams) {
            self.listener.output(stream, text);
        }
    }

    /// Gives the listeners of a terminal the next text, if they exist and are not busy.
    fn deliver_data(&mut self) {
        if let (Some(terminal), Some(_)) = (&self.terminal, self.pid)
            && let Some(text) = terminal.next_data()
        {
            self.listener.data(text);
        }
    }

    fn terminal_has_text(&self) -> bool {
        self.pid.is_some() && self.terminal.as_ref().is_some_and(TerminalIo::awaits_listeners)
    }

    /// Writes as much input as the command takes.
    pub fn write_input(&mut self) {
        self.input.write();
        if let Some(run) = self.request.live_run.as_ref().filter(|_| self.request.is_fed()) {
            run.set_unwritten(self.input.unwritten());
        }
        self.answer_input();
    }

    fn answer_input(&mut self) {
        if let Some(answer) = self.input.take_answer() {
            self.listener.input_taken(answer == InputTaken::Written);
        }
    }

    /// Handles a reply: the listener has taken something, or the caller has given something.
    pub fn on_reply(&mut self, reply: CallerReply) {
        match reply {
            CallerReply::OutputTaken(failure) => {
                self.delivery.on_taken();
                if let Some(failure) = failure
                    && self.delivery.stop()
                {
                    self.notes.push(format!("the onOutput listener failed and was taken away: {failure}"));
                }
                self.deliver();
            }
            CallerReply::Listen if !self.delivery.is_on() => {
                self.delivery = OutputDelivery::for_watchers();
                for reader in self.streams.all_mut() {
                    reader.capture.begin_live(BATCH);
                    self.delivery.on_text(reader.stream);
                }
                self.deliver();
            }
            CallerReply::Input(more) => {
                self.input.push(more);
                self.write_input();
            }
            CallerReply::DataChanged => self.deliver_data(),
            CallerReply::ViewTaken(failure) => {
                if let Some(views) = &mut self.views {
                    views.on_taken();
                }
                if let Some(failure) = failure {
                    self.views = None;
                    self.notes.push(format!("the onSnapshot listener failed and was taken away: {failure}"));
                }
            }
            CallerReply::PromptTaken(failure) => {
                if let Some(failure) = failure {
                    self.watches.blocked.stop();
                    self.notes.push(format!("the onPrompt listener failed and was taken away: {failure}"));
                }
            }
            CallerReply::Allocated(stream, answer) => {
                if let Some(reader) = self.streams.get_mut(stream) {
                    reader.on_allocated(answer, self.request.spill.as_ref());
                }
                self.pass_on(stream);
            }
            // The loop handles these.
            CallerReply::Abort | CallerReply::Listen | CallerReply::Signal(_) | CallerReply::Order(_) => {}
        }
    }

    /// Handles the end of the caller's thread, and with it of its listeners.
    pub fn on_caller_gone(&mut self) {
        self.delivery.stop();
        self.views = None;
        self.watches.blocked.stop();
    }

    /// Stops waiting for listeners.
    pub fn stop_listeners(&mut self) {
        if self.delivery.stop() {
            self.notes.push("the onOutput listener did not take all output in time".into());
        }
        if self.terminal_has_text()
            && let Some(terminal) = &self.terminal
        {
            terminal.stop_listeners();
            self.notes.push("the listeners of the terminal did not take all output in time".into());
        }
    }
}

// ---- live output

/// The most bytes of text that one call of the listener gets.
pub const BATCH: usize = 64 * 1024;
/// The most bytes of a stream that wait for people who watch.
const KEPT_FOR_WATCHERS: usize = 4 * BATCH;

/// Streams of live text.
pub trait LiveText {
    /// Returns the next text of a stream, at most this many bytes. `None`: there is no text.
    fn take(&mut self, stream: OutputStream, max_bytes: usize) -> Option<String>;
    /// Returns whether a stream has more text.
    fn has_more(&self, stream: OutputStream) -> bool;
}

impl LiveText for OutputStreams {
    fn take(&mut self, stream: OutputStream, max_bytes: usize) -> Option<String> {
        self.get_mut(stream)?.capture.take_live(max_bytes)
    }

    fn has_more(&self, stream: OutputStream) -> bool {
        self.get(stream).is_some_and(|reader| reader.capture.live_bytes() > 0)
    }
}

/// The stream that the listener gets next, and whether the listener is still busy with the last batch. People who watch
/// never delay the command: text that they do not take in time is dropped.
#[derive(Debug, Default)]
pub struct OutputDelivery {
    /// Whether there is a listener.
    on: bool,
    /// Whether the listeners are people who watch, and not the caller.
    is_for_watchers: bool,
    /// Whether a batch was not taken yet.
    in_flight: bool,
    queue: VecDeque<OutputStream>,
}

impl OutputDelivery {
    pub fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    /// Returns the delivery to people who watch.
    pub fn for_watchers() -> Self {
        Self { on: true, is_for_watchers: true, ..Self::default() }
    }

    /// Returns whether there is a listener: the caller, or people who watch.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Returns whether the listener can hold the command or its result up.
    pub fn may_delay(&self) -> bool {
        self.on && !self.is_for_watchers
    }

    /// Returns whether a stream has more text for people who watch than is kept for them.
    pub fn leaves_out(&self, live_bytes: usize) -> bool {
        self.on && self.is_for_watchers && live_bytes > KEPT_FOR_WATCHERS
    }

    /// Returns the next batch for people who watch, also while they are busy: the last ones, at the end.
    pub fn next_for_watchers(&mut self, text: &mut impl LiveText) -> Option<(OutputStream, String)> {
        if !self.is_for_watchers {
            return None;
        }
        self.in_flight = false;
        self.next(text)
    }

    /// Returns whether reading of a stream with this much text pauses, so that a full pipe holds the command back.
    pub fn is_full(&self, live_bytes: usize) -> bool {
        self.may_delay() && live_bytes >= BATCH
    }

    /// Records that a stream has text for the listener.
    pub fn on_text(&mut self, stream: OutputStream) {
        if self.on && !self.queue.contains(&stream) {
            self.queue.push_back(stream);
        }
    }

    /// Returns the next batch, unless the listener is busy. Streams take turns.
    pub fn next(&mut self, text: &mut impl LiveText) -> Option<(OutputStream, String)> {
        while self.on && !self.in_flight {
            let stream = self.queue.pop_front()?;
            if let Some(batch) = text.take(stream, BATCH) {
                if text.has_more(stream) {
                    self.queue.push_back(stream);
                }
                self.in_flight = true;
                return Some((stream, batch));
            }
        }
        None
    }

    /// Records that the listener has taken the last batch.
    pub fn on_taken(&mut self) {
        self.in_flight = false;
    }

    /// Stops the delivery to the listener. Returns whether the caller still listened.
    pub fn stop(&mut self) -> bool {
        let listened = self.may_delay();
        self.queue.clear();
        self.on = false;
        listened
    }

    /// Returns whether the listener has not taken everything yet.
    pub fn is_pending(&self) -> bool {
        self.may_delay() && (self.in_flight || !self.queue.is_empty())
    }
}

// ---- live views

/// The last view, and the time of the next view.
pub struct LiveViews {
    began: Instant,
    every: Duration,
    next: Instant,
    in_flight: bool,
    changed: bool,
    /// The text of both streams in the last view.
    shown: Option<[String; 2]>,
}

impl LiveViews {
    pub fn new(every: Duration, began: Instant) -> Self {
        Self { began, every, next: began + every, in_flight: false, changed: true, shown: None }
    }

    /// Returns the time since the command began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns when the next view is due. `None` while there can be no new view.
    pub fn due_at(&self) -> Option<Instant> {
        (!self.in_flight && self.changed).then_some(self.next)
    }

    /// Records output of the command.
    pub fn on_output(&mut self) {
        self.changed = true;
    }

    /// Records that the listener has taken the last view.
    pub fn on_taken(&mut self) {
        self.in_flight = false;
    }

    /// Returns the next view, if it is due and differs from the last view.
    pub fn next(&mut self, now: Instant, look: impl FnOnce() -> [String; 2]) -> Option<[String; 2]> {
        if now < self.next {
            return None;
        }
        self.next = now + self.every;
        if self.in_flight || !self.changed {
            return None;
        }
        // The view may be unchanged: the end of a stream was read, or a progress line drawn again.
        self.changed = false;
        let view = look();
        if self.shown.as_ref() == Some(&view) {
            return None;
        }
        self.shown = Some(view.clone());
        self.in_flight = true;
        Some(view)
    }
}

#[cfg(test)]
mod tests {
    mod delivery {
        use super::super::*;

        /// The text of both streams.
        struct StreamTexts([String; 2]);

        impl LiveText for StreamTexts {
            fn take(&mut self, stream: OutputStream, max_bytes: usize) -> Option<String> {
                let text = &mut self.0[stream as usize];
                let rest = text.split_off(text.len().min(max_bytes));
                Some(std::mem::replace(text, rest)).filter(|text| !text.is_empty())
            }

            fn has_more(&self, stream: OutputStream) -> bool {
                !self.0[stream as usize].is_empty()
            }
        }

        fn texts(stdout: &str, stderr: &str) -> StreamTexts {
            let mut texts = StreamTexts([String::new(), String::new()]);
            texts.0[OutputStream::Stdout as usize] = stdout.to_owned();
            texts.0[OutputStream::Stderr as usize] = stderr.to_owned();
            texts
        }

        #[test]
        fn one_batch_is_in_flight_at_a_time() {
            let mut delivery = OutputDelivery::new(true);
            let mut texts = texts("one", "");
            delivery.on_text(OutputStream::Stdout);
            assert_eq!(delivery.next(&mut texts), Some((OutputStream::Stdout, "one".to_owned())));
            texts.0[OutputStream::Stdout as usize].push_str("two");
            delivery.on_text(OutputStream::Stdout);
            assert_eq!(delivery.next(&mut texts), None, "the listener is busy");
            delivery.on_taken();
            assert_eq!(delivery.next(&mut texts), Some((OutputStream::Stdout, "two".to_owned())));
        }

        #[test]
        fn streams_take_turns_and_each_keeps_its_order() {
            let mut delivery = OutputDelivery::new(true);
            let long = format!("{}{}", "a".repeat(BATCH), "b");
            let mut texts = texts(&long, "error");
            delivery.on_text(OutputStream::Stdout);
            delivery.on_text(OutputStream::Stderr);
            delivery.on_text(OutputStream::Stdout);
            let mut taken = Vec::new();
            while let Some((stream, text)) = delivery.next(&mut texts) {
                taken.push((stream, text.len()));
                delivery.on_taken();
            }
            assert_eq!(taken, [(OutputStream::Stdout, BATCH), (OutputStream::Stderr, 5), (OutputStream::Stdout, 1)]);
            assert!(!delivery.is_pending());
        }

        #[test]
        fn a_busy_listener_holds_the_command_back_at_one_batch() {
            let delivery = OutputDelivery::new(true);
            assert!(!delivery.is_full(BATCH - 1) && delivery.is_full(BATCH));
            assert!(!OutputDelivery::new(false).is_full(usize::MAX), "without a listener everything is read");
            let watched = OutputDelivery::for_watchers();
            assert!(!watched.is_full(usize::MAX) && !watched.may_delay(), "people who watch hold nothing up");
            assert!(!watched.leaves_out(KEPT_FOR_WATCHERS) && watched.leaves_out(KEPT_FOR_WATCHERS + 1));
        }

        #[test]
        fn the_result_waits_for_the_batch_in_flight_and_for_the_queue() {
            let mut delivery = OutputDelivery::new(true);
            let mut texts = texts("x", "");
            assert!(!delivery.is_pending());
            delivery.on_text(OutputStream::Stdout);
            assert!(delivery.is_pending(), "queued");
            let _ = delivery.next(&mut texts);
            assert!(delivery.is_pending(), "in flight");
            delivery.on_taken();
            assert!(!delivery.is_pending());
        }

        #[test]
        fn a_stopped_listener_gets_and_delays_nothing() {
            let mut delivery = OutputDelivery::new(true);
            delivery.on_text(OutputStream::Stdout);
            assert!(delivery.stop());
            assert!(!delivery.stop(), "stopped already");
            delivery.on_text(OutputStream::Stderr);
            assert_eq!(delivery.next(&mut texts("x", "y")), None);
            assert!(!delivery.is_pending());
        }
    }

    mod live_views {
        use super::super::*;

        const EVERY: Duration = Duration::from_millis(250);

        fn view(text: &str) -> [String; 2] {
            [text.to_owned(), String::new()]
        }

        #[test]
        fn a_view_is_shown_when_it_is_due_and_new() {
            let began = Instant::now();
            let mut views = LiveViews::new(EVERY, began);
            assert_eq!(views.due_at(), Some(began + EVERY));
            assert_eq!(views.next(began, || view("early")), None);
            assert_eq!(views.next(began + EVERY, || view("a")), Some(view("a")));
            views.on_taken();
            assert_eq!(views.due_at(), None, "nothing has changed");
            views.on_output();
            assert_eq!(views.next(began + EVERY * 2, || view("a")), None, "it looks the same");
            views.on_output();
            assert_eq!(views.next(began + EVERY * 3, || view("b")), Some(view("b")));
        }

        #[test]
        fn a_listener_that_is_busy_gets_no_second_view() {
            let began = Instant::now();
            let mut views = LiveViews::new(EVERY, began);
            assert!(views.next(began + EVERY, || view("a")).is_some());
            views.on_output();
            assert_eq!(views.due_at(), None);
            assert_eq!(views.next(began + EVERY * 2, || view("b")), None);
            views.on_taken();
            assert_eq!(views.next(began + EVERY * 3, || view("b")), Some(view("b")));
        }
    }
}
