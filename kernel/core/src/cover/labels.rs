//! The labels and test sets that twigs speak of, as small numbers.
//!
//! Both are counted: a number lives as long as some node has it, and is used again later. A label's
//! number also tells what can be asked of it without looking it up: its kind, and whether it is one
//! name, any name, or partly a name (`*:name`, any name of a namespace).

use rustc_hash::FxHashMap;

use crate::pattern::Kind;

/// A label as a number: two bits for the kind, two for the sort, the rest is its place in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Label(u32);

const SORT_AT: u32 = 28;
const KIND_AT: u32 = 30;
const PLACE: u32 = (1 << SORT_AT) - 1;
const WHOLE: u32 = 0;
const ANY: u32 = 1;
const PARTLY: u32 = 2;
/// Places below this are given away: to the context, `*`, `@*` and texts.
const FIRST_FREE: u32 = 4;

impl Label {
    /// The context, which may be of any kind.
    pub const CONTEXT: Label = Label(3 << KIND_AT);
    /// Any element.
    pub const ANY_ELEMENT: Label = Label(ANY << SORT_AT | 1);
    const ANY_ATTRIBUTE: Label = Label(1 << KIND_AT | ANY << SORT_AT | 2);
    const TEXT: Label = Label(2 << KIND_AT | 3);

    fn new(kind: u32, sort: u32, place: u32) -> Self {
        assert!(place <= PLACE, "there are too many labels");
        Label(kind << KIND_AT | sort << SORT_AT | place)
    }

    fn kind(self) -> u32 {
        self.0 >> KIND_AT
    }

    fn sort(self) -> u32 {
        self.0 >> SORT_AT & 3
    }

    fn place(self) -> u32 {
        self.0 & PLACE
    }

    /// Whether it is some element's.
    pub fn is_element(self) -> bool {
        self.kind() == 0
    }

    /// A number for what only this very label includes, if there is no other; the context has one too.
    pub fn exact(self) -> Option<u32> {
        (self.sort() == WHOLE).then_some(self.place())
    }
}

/// A label in a table: kind, namespace and local name, where 0 stands for any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Parts {
    kind: u32,
    namespace: u32,
    local: u32,
}

/// The labels in use.
#[derive(Default)]
pub struct Labels {
    names: Names,
    places: FxHashMap<Parts, u32>,
    parts: Vec<Parts>,
    uses: Vec<u32>,
    free: Vec<u32>,
}

impl Labels {
    /// The number of a label, which is now used once more. `None` is any namespace or any name.
    pub fn take(&mut self, kind: Kind, namespace: Option<&str>, local: Option<&str>) -> Label {
        let code = match kind {
            Kind::Element => 0,
            Kind::Attribute => 1,
            Kind::Text => return Label::TEXT,
        };
        let sort = match (namespace, local) {
            (None, None) if code == 0 => return Label::ANY_ELEMENT,
            (None, None) => return Label::ANY_ATTRIBUTE,
            (Some(_), Some(_)) => WHOLE,
            _ => PARTLY,
        };
        let name = |text: Option<&str>| text.map_or(Some(0), |text| self.names.find(text));
        if let (Some(namespace), Some(local)) = (name(namespace), name(local)) {
            let parts = Parts {
                kind: code,
                namespace,
                local,
            };
            if let Some(&place) = self.places.get(&parts) {
                self.uses[(place - FIRST_FREE) as usize] += 1;
                return Label::new(code, sort, place);
            }
        }
        let parts = Parts {
            kind: code,
            namespace: namespace.map_or(0, |text| self.names.take(text)),
            local: local.map_or(0, |text| self.names.take(text)),
        };
        Label::new(code, sort, self.insert(parts))
    }

    fn insert(&mut self, parts: Parts) -> u32 {
        let at = self.free.pop().unwrap_or(self.parts.len() as u32);
        if at as usize == self.parts.len() {
            self.parts.push(parts);
            self.uses.push(1);
        } else {
            self.parts[at as usize] = parts;
            self.uses[at as usize] = 1;
        }
        self.places.insert(parts, at + FIRST_FREE);
        at + FIRST_FREE
    }

    /// It is used once less.
    pub fn release(&mut self, label: Label) {
        let Some(at) = label.place().checked_sub(FIRST_FREE) else {
            return;
        };
        let uses = &mut self.uses[at as usize];
        *uses -= 1;
        if *uses == 0 {
            let parts = self.parts[at as usize];
            self.places.remove(&parts);
            self.free.push(at);
            self.names.release(parts.namespace);
            self.names.release(parts.local);
        }
    }

    /// Whether every node with the narrower label has the wider one too.
    pub fn includes(&self, wider: Label, narrower: Label) -> bool {
        if wider == narrower || wider == Label::CONTEXT {
            return true;
        }
        if wider.kind() != narrower.kind() {
            return false;
        }
        match wider.sort() {
            WHOLE => false,
            ANY => true,
            _ => {
                let Some(other) = self.parts_of(narrower) else {
                    return false;
                };
                self.parts_of(wider).is_some_and(|parts| {
                    (parts.namespace == 0 || parts.namespace == other.namespace)
                        && (parts.local == 0 || parts.local == other.local)
                })
            }
        }
    }

    fn parts_of(&self, label: Label) -> Option<Parts> {
        let at = label.place().checked_sub(FIRST_FREE)?;
        Some(self.parts[at as usize])
    }

    /// How many labels there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Roughly how many bytes they take.
    pub fn held(&self) -> usize {
        self.parts.capacity() * 16 + self.places.capacity() * 20 + self.names.held()
    }
}

/// Strings as numbers from 1 on.
#[derive(Default)]
pub struct Names {
    numbers: FxHashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    uses: Vec<u32>,
    free: Vec<u32>,
    bytes: usize,
}

impl Names {
    fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// The number of a string, which is now used once more.
    pub fn take(&mut self, text: &str) -> u32 {
        if let Some(number) = self.find(text) {
            self.uses[number as usize - 1] += 1;
            return number;
        }
        let at = self.free.pop().unwrap_or(self.texts.len() as u32);
        if at as usize == self.texts.len() {
            self.texts.push(text.into());
            self.uses.push(1);
        } else {
            self.texts[at as usize] = text.into();
            self.uses[at as usize] = 1;
        }
        self.bytes += 2 * text.len();
        self.numbers.insert(text.into(), at + 1);
        at + 1
    }

    /// It is used once less; 0 stands for no string.
    pub fn release(&mut self, number: u32) {
        let Some(at) = number.checked_sub(1) else {
            return;
        };
        let uses = &mut self.uses[at as usize];
        *uses -= 1;
        if *uses == 0 {
            let text = std::mem::take(&mut self.texts[at as usize]);
            self.numbers.remove(&text);
            self.bytes -= 2 * text.len();
            self.free.push(at);
        }
    }

    /// Roughly how many bytes they take.
    pub fn held(&self) -> usize {
        self.texts.capacity() * 24 + self.numbers.capacity() * 32 + self.bytes
    }
}
