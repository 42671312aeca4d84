package event

import (
	"context"
	"errors"
	"time"
)

// ErrExists says that there is an export of that id already.
var ErrExists = errors.New("export exists already")

// ErrNotFound says that there is no such export.
var ErrNotFound = errors.New("no such export")

// Export is an exchange that was committed, as the outbox keeps it.
type Export struct {
	Tenant  string
	Session string
	Segment int64
	ID      string // export_id, a ULID
	TurnID  string // the input that opened the exchange
	// First and Last are the seqs of the exchange's first and last turn.
	First, Last int64
	// Status is how the exchange ended: complete, complete_with_errors, interrupted or failed.
	Status string
	// Body is the export without what stands in the log and in memory, JSON; empty once swept.
	Body string
	At   time.Time
	// Sent is the place of the export among all that were published, 0 while it was not.
	Sent int64
}

// ExportRows keeps exports. A new one waits to be published; see store.Store.Publish.
type ExportRows interface {
	// InsertExport adds an export. ErrExists if the tenant has one of that id.
	InsertExport(ctx context.Context, e Export) error
	// Export returns ErrNotFound where the tenant has none of that id.
	Export(ctx context.Context, tenant, id string) (Export, error)
	// ExportsOf returns the exports of the exchanges that a turn opened, by id: one, unless it was tried
	// again since it got no reply, or a session was imported next to its original.
	ExportsOf(ctx context.Context, tenant, turnID string) ([]Export, error)
	// SetExportStatus changes how the exchange ended. ErrNotFound where there is none.
	SetExportStatus(ctx context.Context, tenant, id, status string) error
	// Published returns up to limit published exports of all tenants with Sent greater than after, in
	// that order. An export never becomes visible behind one with a higher number.
	Published(ctx context.Context, after int64, limit int) ([]Export, error)
	// PublishedOf is Published for the exports of one tenant. It costs what it returns, however many others there are.
	PublishedOf(ctx context.Context, tenant string, after int64, limit int) ([]Export, error)
	// LastPublished is the highest number given so far, 0 where there is none.
	LastPublished(ctx context.Context) (int64, error)
	// SweptThrough is a number up to which no published export has its body any more: the highest, or what that was when
	// SweepExports was last called. It costs at most what there are with one.
	SweptThrough(ctx context.Context) (int64, error)
	// SweepExports empties the bodies of up to limit published exports of all tenants that were sent before the time and still have
	// one. For those that were sent before it was noted when, the time counts at which they were made.
	SweepExports(ctx context.Context, before time.Time, limit int) (int64, error)
}

// Deferral is a target of a commit that could not be written and is tried again.
type Deferral struct {
	Tenant    string
	Session   string
	ExportID  string
	Target    string
	Payload   string // what is to be written, JSON
	Tries     int
	Next      time.Time // when it is tried next
	Error     string    // why it was not written the last time
	At        time.Time // when it was put off first, or at most a moment later: it orders what waits
	Escalated time.Time // when it was given up; zero while it is not
}

// DeferralRows is the retry queue.
type DeferralRows interface {
	// PutDeferral writes the deferral in place of one for the same export and target.
	PutDeferral(ctx context.Context, d Deferral) error
	// Deferral returns the one of an export and target; ok is false where there is none.
	Deferral(ctx context.Context, tenant, exportID, target string) (d Deferral, ok bool, err error)
	// Deferrals returns those of a tenant, oldest first by At, then by export and target.
	Deferrals(ctx context.Context, tenant string) ([]Deferral, error)
	// WaitingDeferrals returns those of a session that are not given up, in the order of Deferrals, and does not look at those that are.
	WaitingDeferrals(ctx context.Context, tenant, session string) ([]Deferral, error)
	// WaitingTargets returns the targets of WaitingDeferrals, each once and by name, without reading what is to be written.
	WaitingTargets(ctx context.Context, tenant, session string) ([]string, error)
	// CountDeferrals returns how many there are of all tenants, given up or not.
	CountDeferrals(ctx context.Context) (int64, error)
	// DueDeferrals returns up to limit deferrals of all tenants whose time has come (Next is now or
	// before) and that are not given up, the longest due first.
	DueDeferrals(ctx context.Context, now time.Time, limit int) ([]Deferral, error)
	// DeleteDeferral removes it; where there is none, nothing changes.
	DeleteDeferral(ctx context.Context, tenant, exportID, target string) error
	// SweepDeferrals deletes up to limit deferrals of all tenants that were given up before the time.
	SweepDeferrals(ctx context.Context, before time.Time, limit int) (int64, error)
}

// EventRows keeps what was announced.
type EventRows interface {
	// InsertEvent adds an event that has no place yet, whatever it says; one of that id that is there already stays as
	// it is.
	InsertEvent(ctx context.Context, e Event) error
	// Events returns up to limit events of a tenant: those with a place greater than after, by place, and then those
	// that have none yet, by id; of one session if its name is not empty.
	Events(ctx context.Context, tenant, session string, after int64, limit int) ([]Event, error)
	// PlaceEvents gives the tenant's events that have no place the next ones, by id. A place never becomes visible
	// behind a higher one, whoever else writes, and none is given twice, even if its event was deleted: whoever has
	// read up to a place goes on behind it and misses nothing.
	PlaceEvents(ctx context.Context, tenant string) error
	// SweepEvents deletes up to limit events of a tenant from before the time, the oldest first, but not the receipts of
	// what was forgotten ([Forgotten]), which are all that is left of it, nor the one with the last place, from which a
	// copy of the store counts on. Events are found by their ids, which are ULIDs: one whose id says that it is younger
	// stays until that is old too.
	SweepEvents(ctx context.Context, tenant string, before time.Time, limit int) (int64, error)
	// LastPlace is the last place that was given, 0 where there is none.
	LastPlace(ctx context.Context, tenant string) (int64, error)
}

// Mark is how far a daemon has come in the published exports. Only who holds it may move it.
type Mark struct {
	Daemon string
	// Through is the number up to which every export was handled.
	Through int64
	Holder  string
	Until   time.Time
}

// Letter is an export that a daemon could not handle: a dead letter.
type Letter struct {
	Tenant   string
	Daemon   string
	ExportID string
	Session  string
	TurnID   string
	Tries    int
	Error    string
	At       time.Time
}

// DaemonRows keeps how far daemons have come and what they could not handle.
type DaemonRows interface {
	// Mark returns a daemon's mark and keeps other writers of it out until the transaction ends, also
	// where ok is false because there is none yet. In a View it is only read.
	Mark(ctx context.Context, daemon string) (m Mark, ok bool, err error)
	// Marks returns the marks of all daemons by name.
	Marks(ctx context.Context) ([]Mark, error)
	// PutMark writes a daemon's mark.
	PutMark(ctx context.Context, m Mark) error
	// DeleteMark removes a daemon's mark; where there is none, nothing changes.
	DeleteMark(ctx context.Context, daemon string) error
	// InsertLetter adds a dead letter; one of that daemon and export that is there already stays.
	InsertLetter(ctx context.Context, l Letter) error
	// Letters returns up to limit dead letters of a tenant, newest first by At, then by export and
	// daemon; of one daemon if its name is not empty.
	Letters(ctx context.Context, tenant, daemon string, limit int) ([]Letter, error)
	// SweepLetters deletes up to limit dead letters of a tenant from before the time, the oldest first.
	SweepLetters(ctx context.Context, tenant string, before time.Time, limit int) (int64, error)
}

// BusRows keeps which bus publishes the exports, in whichever process: no other does. See store.Store.Publish.
type BusRows interface {
	// Bus is the name of that bus, empty for the one inside the process, which it is until another is set.
	Bus(ctx context.Context) (name string, err error)
	// SetBus has the bus of that name publish from now on all that waits. What another one is sending while it is set is not
	// noted as published, so that it is sent again.
	SetBus(ctx context.Context, name string) error
	// CountWaiting returns how many exports of all tenants are not published yet. It costs what there are.
	CountWaiting(ctx context.Context) (int64, error)
}

// Rows is everything a store keeps of exports, deferrals, events and daemons, inside one of its
// transactions.
type Rows interface {
	ExportRows
	BusRows
	DeferralRows
	EventRows
	DaemonRows
}
