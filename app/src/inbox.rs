//! Reports that gather until they are handed over together.

use crate::bridge::News;
use palimpsest_protocol::Event;
use std::cell::RefCell;
use std::rc::Rc;

/// Reports of one worker that wait, oldest first; a clone shares them.
#[derive(Clone, Default)]
pub(crate) struct Inbox {
    waiting: Rc<RefCell<Vec<Event>>>,
}

impl Inbox {
    /// Keeps a report; true for the first one that waits: a hand-over is due then.
    pub(crate) fn keep(&self, event: Event) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        waiting.push(event);
        waiting.len() == 1
    }

    /// Hands over all that waits.
    pub(crate) fn take(&self) -> Vec<News> {
        self.waiting.take().into_iter().map(News::Event).collect()
    }

    /// Hands over all that waits, then the worker's death: what it reported before is no less true.
    pub(crate) fn close(&self, reason: String) -> Vec<News> {
        let mut news = self.take();
        news.push(News::Dead(reason));
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(news: &News) -> &str {
        match news {
            News::Event(Event::Refused(text)) | News::Dead(text) | News::Late(text) => text,
            News::Event(_) => "another event",
        }
    }

    fn words(news: &[News]) -> Vec<&str> {
        news.iter().map(word).collect()
    }

    #[test]
    fn what_waits_comes_before_the_death_and_once() {
        let inbox = Inbox::default();
        assert!(inbox.keep(Event::Refused("first".into())));
        assert!(!inbox.clone().keep(Event::Refused("second".into())));
        let news = inbox.close("gone".into());
        assert_eq!(words(&news), ["first", "second", "gone"]);
        assert!(matches!(news[2], News::Dead(_)));
        assert!(inbox.take().is_empty(), "the hand-over that was due finds nothing");
    }

    #[test]
    fn each_hand_over_is_due_once() {
        let inbox = Inbox::default();
        assert!(inbox.keep(Event::Refused("first".into())));
        assert_eq!(words(&inbox.take()), ["first"]);
        assert!(inbox.keep(Event::Refused("second".into())));
    }
}
