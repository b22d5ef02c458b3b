//! MPICH's integer handles.
//!
//! The upper two bits say where the object lies, the next four its kind, the rest which one it is
//! (pmodels/mpich, src/include/mpir_objects.h, v3.0 to v5.0).

/// The kinds of objects that MPICH has handles for (`MPII_Object_kind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum ObjectKind {
    Comm = 1,
    Group = 2,
    Datatype = 3,
    File = 4,
    Errhandler = 5,
    Op = 6,
    Info = 7,
    Win = 8,
    Keyval = 9,
    Attr = 10,
    Request = 11,
    Vconn = 12,
    GrequestClass = 13,
    Session = 14,
    /// Objects without a type of the standard's, such as streams.
    Internal = 15,
}

impl ObjectKind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Comm,
        Self::Group,
        Self::Datatype,
        Self::File,
        Self::Errhandler,
        Self::Op,
        Self::Info,
        Self::Win,
        Self::Keyval,
        Self::Attr,
        Self::Request,
        Self::Vconn,
        Self::GrequestClass,
        Self::Session,
        Self::Internal,
    ];

    /// The kind of that number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u32 == number)
    }

    /// The structure that its objects are, in MPICH's source.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Comm => "MPIR_Comm",
            Self::Group => "MPIR_Group",
            Self::Datatype => "MPIR_Datatype",
            Self::File => "ADIOI_FileD",
            Self::Errhandler => "MPIR_Errhandler",
            Self::Op => "MPIR_Op",
            Self::Info => "MPIR_Info",
            Self::Win => "MPIR_Win",
            Self::Keyval => "MPII_Keyval",
            Self::Attr => "MPIR_Attribute",
            Self::Request => "MPIR_Request",
            Self::Vconn => "MPIDI_VC",
            Self::GrequestClass => "MPIR_Grequest_class",
            Self::Session => "MPIR_Session",
            Self::Internal => "MPIR_Stream",
        }
    }
}

/// Where the object of a handle lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Nowhere: a null handle, or no handle.
    Invalid,
    /// In an array of predefined objects.
    Builtin,
    /// In the first block of a pool, which is a variable of the library.
    Direct,
    /// In a later block of a pool, which is on the heap.
    Indirect,
}

/// The value of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandleValue(pub u32);

impl HandleValue {
    /// The first handle of a kind at a place.
    pub const fn first(place: Place, kind: ObjectKind) -> Self {
        let place = match place {
            Place::Invalid => 0,
            Place::Builtin => 1,
            Place::Direct => 2,
            Place::Indirect => 3,
        };
        Self(place << 30 | (kind as u32) << 26)
    }

    /// Where its object lies.
    pub const fn place(self) -> Place {
        match self.0 >> 30 {
            0 => Place::Invalid,
            1 => Place::Builtin,
            2 => Place::Direct,
            _ => Place::Indirect,
        }
    }

    /// Its kind; `None` where the bits name none.
    pub fn kind(self) -> Option<ObjectKind> {
        ObjectKind::from_number(self.0 >> 26 & 0xf)
    }

    /// What distinguishes it among those of its kind and place.
    pub const fn index(self) -> u32 {
        self.0 & 0x03ff_ffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_handles_of_the_standard() {
        let world = HandleValue(0x4400_0000);
        assert_eq!((world.place(), world.kind(), world.index()), (Place::Builtin, Some(ObjectKind::Comm), 0));
        assert_eq!(HandleValue::first(Place::Builtin, ObjectKind::Comm), world);
        assert_eq!(HandleValue(0x0400_0000).place(), Place::Invalid);
        assert_eq!(HandleValue(0x0c00_0000).kind(), Some(ObjectKind::Datatype));
        let request = HandleValue(0xac00_0003);
        assert_eq!((request.place(), request.kind(), request.index()), (Place::Direct, Some(ObjectKind::Request), 3));
        assert_eq!(HandleValue(0).kind(), None);
    }
}
