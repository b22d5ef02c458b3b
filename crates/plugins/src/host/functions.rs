//! The functions of a plug-in: their names, which of them it must have, and calls that note where they are.

/// Whether the host can do without a function of a plug-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Every plug-in must have it.
    Required,
    /// May be missing; then something is not shown.
    Optional,
    /// A message-queue plug-in of compatibility 3 must have it.
    Mpi2,
    /// A message-queue plug-in of compatibility 3 may have it.
    Mpi2Optional,
}

/// The functions of an interface: an enum of them, and a structure of pointers to them.
#[macro_export]
macro_rules! functions {
    ($($variant:ident $field:ident $name:literal $need:ident fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions of a plug-in.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Function { $(#[doc = $name] $variant),* }

        impl Function {
            /// All functions, in the order of the interface.
            pub const ALL: &[Function] = &[$(Function::$variant),*];

            /// The name that a plug-in exports.
            pub const fn name(self) -> &'static str {
                match self { $(Function::$variant => $name),* }
            }

            /// Whether the host can do without it.
            pub const fn need(self) -> $crate::host::functions::Need {
                match self { $(Function::$variant => $crate::host::functions::Need::$need),* }
            }

            /// The names of those that are needed so and that `has` does not know.
            pub fn missing(need: $crate::host::functions::Need, has: impl Fn(&str) -> bool) -> Vec<String> {
                let needed = Self::ALL.iter().filter(|function| function.need() == need).map(|function| function.name());
                needed.filter(|name| !has(name)).map(str::to_owned).collect()
            }

            /// The function with this number.
            pub fn from_number(number: u32) -> Option<Self> {
                Self::ALL.get(number as usize).copied()
            }
        }

        /// Pointers to the functions of a loaded plug-in.
        #[derive(Clone, Copy)]
        pub struct Functions { $(pub $field: Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?>),* }

        impl Functions {
            /// Looks up all functions; `find` returns the address of a name.
            ///
            /// # Safety
            /// What `find` returns for a name must be the function of that name of the interface.
            #[allow(unsafe_code)]
            pub unsafe fn look_up(mut find: impl FnMut(Function) -> Option<unsafe extern "C" fn()>) -> Self {
                Self { $($field: {
                    let found = find(Function::$variant);
                    // SAFETY: the caller vouches that the address is that of the function of this name, whose
                    // prototype the interface fixes; both are function pointers of the same size.
                    unsafe {
                        std::mem::transmute::<Option<unsafe extern "C" fn()>,
                            Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?>>(found)
                    }
                }),* }
            }
        }
    };
}

/// Calls a function of the plug-in, having noted which. Evaluates to an `Option`: `None` where it does not exist.
#[macro_export]
macro_rules! call {
    ($driver:expr, $function:ident, $field:ident $(, $arg:expr)*) => {{
        match $driver.functions.$field {
            None => None,
            Some(function) => {
                $driver.child.shared.set_place(Function::$function as u32);
                // SAFETY: the pointer has the prototype that the interface fixes for this name; the arguments are
                // handles of ours and buffers of the sizes that it demands. What the plug-in does beyond that can
                // only hurt this helper process.
                #[allow(clippy::macro_metavars_in_unsafe)]
                let result = unsafe { function($($arg),*) };
                $driver.child.shared.set_place($crate::host::shared::NOWHERE);
                Some(result)
            }
        }
    }};
}
