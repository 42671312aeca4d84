package replay

// InPieces has an import write so many records at once.
func (o ImportOptions) InPieces(records int) ImportOptions {
	o.piece = records
	return o
}
